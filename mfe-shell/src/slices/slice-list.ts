import { queryOptions } from '@tanstack/react-query';
import { setPortalSettings } from 'mfe-kit';
import type { SliceList } from '../live-slices';
import { isOverriding } from '../overrides/is-overriding';
import { isStoryTold } from '../story/is-story-told';
import { setBrought } from './brought';

declare global {
  interface Window {
    /** Requested by an inline script of the page, before the bundle runs. */
    __SLICES__?: Promise<SliceList>;
  }
}

let tellRead: () => void;

/** Resolves once a list was read, and with it the deployment's settings. */
export const listRead = new Promise<void>((resolve) => (tellRead = resolve));

/**
 * The list that the page requested, with this tab's overrides applied. The deployment's settings are in
 * force once it is read. Rejects when the list could not be read: then no slice can be shown.
 */
export async function readSliceList(): Promise<SliceList> {
  const read: Partial<SliceList> | undefined = await window.__SLICES__;
  if (!read?.slices || !read.portal) throw new Error('slices.json does not list slices');
  const list = read as SliceList;
  setPortalSettings(list.portal);
  tellRead();
  isStoryTold.set(list.portal.story === true);
  const applied = isOverriding() ? await overridden(list) : list;
  setBrought(applied);
  return applied;
}

async function overridden(list: SliceList): Promise<SliceList> {
  const { storeOverridesOfAddress, withOverrides } = await import('../overrides/overrides');
  storeOverridesOfAddress(list.portal);
  return withOverrides(list);
}

/** The list for components. It is read again on each visit, because the loaded slices can change meanwhile. */
export const liveSlicesQuery = () =>
  queryOptions({ queryKey: ['live-slices'], queryFn: readSliceList, gcTime: 0 });

/** Requests the list again, as the page does: another build may be live by now. */
export function requestSliceList(): void {
  window.__SLICES__ = fetchSliceList();
  window.__SLICES__.catch(() => {
    /* reported where the list is read */
  });
}

export async function fetchSliceList(): Promise<SliceList> {
  const answer = await fetch('/slices.json', { cache: 'no-cache' });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return (await answer.json()) as SliceList;
}
