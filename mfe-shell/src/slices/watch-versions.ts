import { loadedSlices } from './load-slice';
import { newVersion } from '../notices/new-version';
import type { SliceList } from '../live-slices';
import { fetchSliceList } from './slice-list';

/** Milliseconds between two checks; a hidden page does not check. */
const EVERY_MS = 60_000;

/** Checks what is live, at intervals and whenever the page becomes visible; returns how to stop. */
export function watchVersions(): () => void {
  const began = window.__SLICES__?.catch(() => null);
  const look = async () => {
    if (document.visibilityState !== 'visible') return;
    try {
      const list = await fetchSliceList();
      // Slices that are not loaded yet will be loaded by this list.
      window.__SLICES__ = Promise.resolve(list);
      newVersion.set(differs((await began) ?? null, list));
    } catch {
      /* the last list that could be read stays */
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

/** Returns whether the shell has changed since the page was opened, or a slice since it was loaded. */
function differs(began: SliceList | null, now: SliceList): boolean {
  if (began?.shell && now.shell && began.shell.build !== now.shell.build) return true;
  return [...loadedSlices()].some(([name, { live }]) => {
    const build = now.slices[name];
    // An override has no integrity, and is never outdated.
    return live.integrity !== '' && build !== undefined && build.integrity !== live.integrity;
  });
}
