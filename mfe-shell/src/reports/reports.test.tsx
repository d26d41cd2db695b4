import { screen } from 'mfe-kit/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadBuild } from '../slices/federation';
import { goLive, heading, open, openDashboard, slice, storeUser } from '../testing/portal';
import { textOf } from '../testing/text-of';
import { newPage, report } from './report';
import { sendReports } from './send-reports';

let stop: () => void;
let sent: Blob[];
/** Passes finished requests on, as the browser does. */
let finish: (entries: Partial<PerformanceResourceTiming>[]) => void;

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  sent = [];
  vi.stubGlobal(
    'navigator',
    Object.assign(navigator, { sendBeacon: (_: string, body: Blob) => sent.push(body) }),
  );
  vi.stubGlobal(
    'PerformanceObserver',
    class {
      constructor(callback: (list: { getEntries: () => unknown[] }) => void) {
        finish = (entries) => callback({ getEntries: () => entries });
      }
      observe() {}
      disconnect() {}
    },
  );
  newPage();
  stop = sendReports();
  storeUser();
});

afterEach(() => stop());

/** Hides the page; returns all reports that were sent. */
async function reports() {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValueOnce('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
  const bodies = await Promise.all(sent.map(textOf));
  return bodies.flatMap((body) => (JSON.parse(body) as Sent).reports);
}

interface Sent {
  session?: string;
  reports: { ms?: number }[];
}

test('a slice that is loaded is reported once, with the time it took and nothing of the person', async () => {
  goLive();
  await open('/');
  expect(await heading('Dashboard')).toBeVisible();
  const [loaded, ...others] = await reports();
  expect(loaded).toEqual({
    slice: 'mfe-loans',
    version: '1.2.3',
    outcome: 'loaded',
    route: '/',
    ms: expect.any(Number) as number,
  });
  expect(others).toEqual([]);
});

test('a build that can’t be loaded is reported with a reason, in one word', async () => {
  goLive();
  vi.mocked(loadBuild).mockRejectedValue(new Error('This version does not exist on the server'));
  await open('/');
  expect(await screen.findByText('mfe-loans 1.2.3')).toBeVisible();
  expect(await reports()).toEqual([
    { slice: 'mfe-loans', version: '1.2.3', outcome: 'not_loaded', route: '/', reason: 'missing' },
  ]);
});

test('a screen that crashes is reported with the pattern of its path and the place in its code, and not with its address or the message', async () => {
  const error = new TypeError("Wanjiru's loan is undefined");
  const build = `${window.location.origin}/slices/mfe-loans/1.2.3`;
  error.stack = `${error.toString()}\n    at f (${build}/loans.11633aa2a4.js:1:20514)\n    at ${window.location.origin}/assets/shell.js:1:2`;
  const Broken = () => {
    throw error;
  };
  goLive([slice('mfe-loans', { '/loans/:id': <Broken /> })]);
  await open('/loans/4711');
  expect(await heading('This page has stopped working')).toBeVisible();
  const all = await reports();
  expect(all).toContainEqual({
    slice: 'mfe-loans',
    version: '1.2.3',
    outcome: 'crashed',
    route: '/loans/:id',
    error: 'TypeError',
    places: [{ file: 'loans.11633aa2a4.js', line: 1, column: 20514 }],
  });
  expect(JSON.stringify(all)).not.toMatch(/4711|Wanjiru/);
});

test('calls that fail are reported by status for the slice that is shown', async () => {
  goLive();
  await openDashboard();
  const call = (path: string, responseStatus: number) => ({
    name: `${window.location.origin}${path}`,
    responseStatus,
  });
  finish([call('/api/v1/a', 503), call('/api/v1/b', 503), call('/api/v1/c', 200), call('/assets/x.js', 404)]);
  expect(await reports()).toContainEqual({
    slice: 'mfe-loans',
    version: '1.2.3',
    outcome: 'call_failed',
    status: 503,
    times: 2,
  });
});

test('what happens to a build again is not reported again, and what happens to others is', async () => {
  for (const version of ['1.0.0', '1.0.1', '1.0.0'])
    report({ slice: 'mfe-loans', version, outcome: 'loaded', ms: 1 });
  expect(await reports()).toMatchObject([{ version: '1.0.0' }, { version: '1.0.1' }]);
});

test('where nobody receives reports, none are sent', async () => {
  stop();
  report({ slice: 'mfe-loans', version: '1.2.3', outcome: 'loaded', ms: 1 });
  expect(await reports()).toEqual([]);
});
