import { storeOf } from '../store';
import { tabStorage } from '../tab-storage';

/** The key in the tab's storage of the overrides: slice to address or version. */
export const OVERRIDES = 'slice_overrides';

/** Sentences about overrides in the address that were refused. */
export const refusals = storeOf<readonly string[]>([]);

export const overridePanel = storeOf(false);

export function overrides(): Record<string, string> {
  return (tabStorage.read(OVERRIDES) ?? {}) as Record<string, string>;
}

/** Returns whether this tab has an override, or its address asks for one. */
export function isOverriding(): boolean {
  return Object.keys(overrides()).length > 0 || new URLSearchParams(window.location.search).has('slice');
}
