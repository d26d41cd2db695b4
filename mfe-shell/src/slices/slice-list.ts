import { type Schema, setPortalSettings } from 'mfe-kit';
import { isOverriding } from './is-overriding';

/** What `slices.json` says: the deployment's settings, and which build of which slice is live. */
export type SliceList = Schema<'LiveSlices'>;

/** One build of a slice. */
export type SliceBuild = Omit<SliceList['slices'][string], 'previous'>;

declare global {
  interface Window {
    /** Begun by the page itself, before the bundle runs. */
    __SLICES__?: Promise<SliceList>;
  }
}

/**
 * The list that the page asked for, with the overrides of this tab; the deployment's settings are in
 * force once it is read. Rejects when it can't be had: then no slice can be shown.
 */
export async function readSliceList(): Promise<SliceList> {
  const list: Partial<SliceList> | undefined = await window.__SLICES__;
  if (!list?.slices || !list.portal) throw new Error('slices.json does not list slices');
  setPortalSettings(list.portal);
  if (!isOverriding()) return list as SliceList;
  const { overridden } = await import('./overrides');
  return overridden(list as SliceList);
}

/** Asks for the list anew, as the page does: another build may be live by now. */
export function askForSliceList(): Promise<SliceList> {
  const list = fetch('/slices.json', { cache: 'no-cache' }).then((answer) => {
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return answer.json() as Promise<SliceList>;
  });
  window.__SLICES__ = list;
  list.catch(() => {
    /* told where the list is read */
  });
  return list;
}
