import { session } from 'mfe-kit';
import { matchPath } from 'react-router';
import { flushTogether } from '../beacons/flush-together';
import { brought } from '../slices/brought';
import { loadedSlices } from '../slices/load-slice';
import { onReport, type Report } from './report';

const ADDRESS = '/slice-reports';

/** The server accepts calls of 8 KiB, with 20 reports. */
const MAX_BYTES = 8 * 1024;
const MAX_REPORTS = 20;

/** Sends reports together, and when the page is left; returns how to stop. */
export function sendReports(): () => void {
  let waiting: Report[] = [];
  const together = flushTogether(() => {
    for (const body of bodiesOf(waiting)) navigator.sendBeacon(ADDRESS, body);
    waiting = [];
  });
  const add = (report: Report) => {
    waiting.push(report);
    together.ask();
  };
  onReport(add);
  const stop = watchCalls(add);
  return () => {
    together.stop();
    stop();
    onReport(null);
  };
}

/** As few bodies as fit the reports. The token is in the body: a beacon has no headers. */
function bodiesOf(reports: readonly Report[]): Blob[] {
  const blobOf = (part: readonly Report[]) =>
    new Blob([JSON.stringify({ ...(session.token ? { session: session.token } : {}), reports: part })], {
      type: 'application/json',
    });
  const bodies: Blob[] = [];
  let part: Report[] = [];
  for (const report of reports) {
    const isTooLarge = () => blobOf([...part, report]).size > MAX_BYTES;
    if (part.length === MAX_REPORTS || (part.length > 0 && isTooLarge())) {
      bodies.push(blobOf(part));
      part = [];
    }
    part.push(report);
  }
  return part.length > 0 ? [...bodies, blobOf(part)] : bodies;
}

/** Reports failed calls of the API, by status, for the slice whose screen is shown. */
function watchCalls(add: (report: Report) => void): () => void {
  const observer = new PerformanceObserver((list) => {
    const failed = new Map<number, number>();
    for (const { name, responseStatus } of list.getEntries() as PerformanceResourceTiming[]) {
      const isCall = name.startsWith(`${window.location.origin}/api/`);
      if (isCall && responseStatus >= 400 && responseStatus < 600)
        failed.set(responseStatus, (failed.get(responseStatus) ?? 0) + 1);
    }
    const { pathname } = window.location;
    const shown = brought.get().screens.find(({ path }) => matchPath(path, pathname))?.slice;
    const build = shown === undefined ? undefined : loadedSlices().get(shown)?.used;
    if (shown === undefined || !build?.integrity) return;
    for (const [status, times] of failed)
      add({ slice: shown, version: build.version, outcome: 'call_failed', status, times });
  });
  observer.observe({ type: 'resource' });
  return () => observer.disconnect();
}
