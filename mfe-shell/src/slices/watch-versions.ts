import { loadedSlices } from './load-slice';
import { newVersion } from '../notices/new-version';
import type { SliceList } from './live-slices';
import { requestSliceList } from './slice-list';

/** Milliseconds between two looks; a page that nobody sees does not look. */
const EVERY_MS = 60_000;

/** Looks what is live, now and then and whenever the page is looked at again; returns how to stop. */
export function watchVersions(): () => void {
  const began = window.__SLICES__?.catch(() => null);
  const look = async () => {
    if (document.visibilityState !== 'visible') return;
    const before = window.__SLICES__;
    try {
      // What has not been loaded yet will be by this list.
      newVersion.set(differs((await began) ?? null, await requestSliceList()));
    } catch {
      if (before) window.__SLICES__ = before; // one that could be read serves better than none
    }
  };
  const timer = setInterval(() => void look(), EVERY_MS);
  const onVisible = () => void look();
  document.addEventListener('visibilitychange', onVisible);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', onVisible);
  };
}

/** Whether the shell is another one since the page began, or a loaded slice since it was loaded. */
function differs(began: SliceList | null, now: SliceList): boolean {
  if (began?.shell && now.shell && began.shell.build !== now.shell.build) return true;
  return [...loadedSlices()].some(([name, { live }]) => {
    const build = now.slices[name];
    // An override has no integrity; it is what was asked for.
    return live.integrity !== '' && build !== undefined && build.integrity !== live.integrity;
  });
}
