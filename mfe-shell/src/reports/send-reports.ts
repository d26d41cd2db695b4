import { session } from 'mfe-kit';
import { beacon } from '../beacons/beacon';
import { screenAt } from '../slices/brought';
import { loadedSlices } from '../slices/load-slice';
import { onReport, type Report } from './report';

export function sendReports(): () => void {
  const { add, stop } = beacon('/slice-reports', bodyOf);
  onReport(add);
  const stopWatching = watchCalls(add);
  return () => {
    stop();
    stopWatching();
    onReport(null);
  };
}

/** The token is in the body: a beacon has no headers. */
function bodyOf(reports: readonly Report[]) {
  return { ...(session.token ? { session: session.token } : {}), reports };
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
    const { slice = '' } = screenAt(window.location.pathname) ?? {};
    const build = loadedSlices().get(slice)?.used;
    if (!build?.integrity) return;
    for (const [status, times] of failed)
      add({ slice, version: build.version, outcome: 'call_failed', status, times });
  });
  observer.observe({ type: 'resource' });
  return () => observer.disconnect();
}
