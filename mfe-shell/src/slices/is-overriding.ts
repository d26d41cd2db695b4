/** The key in the tab's storage of the overrides: slice to address or version, as JSON. */
export const OVERRIDES = 'slice_overrides';

/** Sentences about overrides in the address that were refused. */
export const refusals: string[] = [];

/** Whether this tab has an override, or its address asks for one. */
export function isOverriding(): boolean {
  try {
    return (
      sessionStorage.getItem(OVERRIDES) !== null || new URLSearchParams(window.location.search).has('slice')
    );
  } catch {
    return false; // no access to storage
  }
}
