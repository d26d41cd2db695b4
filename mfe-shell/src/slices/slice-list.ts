import type { Schema } from 'mfe-kit';

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

/** The list that the page asked for. Rejects when it can't be had: then no slice can be shown. */
export async function readSliceList(): Promise<SliceList> {
  const list: Partial<SliceList> | undefined = await window.__SLICES__;
  if (!list?.slices || !list.portal) throw new Error('slices.json does not list slices');
  return list as SliceList;
}
