import { type Schema, setPortalSettings } from 'mfe-kit';

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
 * The list that the page asked for; the deployment's settings are in force once it is read. Rejects
 * when it can't be had: then no slice can be shown.
 */
export async function readSliceList(): Promise<SliceList> {
  const list: Partial<SliceList> | undefined = await window.__SLICES__;
  if (!list?.slices || !list.portal) throw new Error('slices.json does not list slices');
  setPortalSettings(list.portal);
  return list as SliceList;
}

/** Asks for the list anew, as the page does: another build may be live by now. */
export function askForSliceList(): void {
  window.__SLICES__ = fetch('/slices.json', { cache: 'no-cache' }).then((answer) => {
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return answer.json() as Promise<SliceList>;
  });
  window.__SLICES__.catch(() => {
    /* told where the list is read */
  });
}
