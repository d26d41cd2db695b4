/** Under which this tab keeps what is loaded in the place of live builds: slice to address, as JSON. */
export const OVERRIDES = 'slice_overrides';

/** What was asked for in the address and is not done, in words. */
export const refusals: string[] = [];

/** Whether this tab loads another build than the live one of some slice, or is asked to. */
export function isOverriding(): boolean {
  try {
    return (
      sessionStorage.getItem(OVERRIDES) !== null || new URLSearchParams(window.location.search).has('slice')
    );
  } catch {
    return false; // storage is closed: nothing could be kept
  }
}
