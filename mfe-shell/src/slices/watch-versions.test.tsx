import { act } from '@testing-library/react';
import { useMutation } from '@tanstack/react-query';
import { type Schema } from 'mfe-kit';
import { answer, hold, screen } from 'mfe-kit/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { goLive, heading, openDashboard, slice, storeUser } from '../testing/portal';
import { newVersion } from '../notices/new-version';
import { watchVersions } from './watch-versions';

const NOTICE = 'A new version is available';

/** For what the clock of the test does not hold back. */
const PATIENCE = { timeout: 15_000 };

const running = hold();

/** A screen on which a payout can be started that does not end by itself. */
function Payout() {
  const { mutate } = useMutation({ mutationFn: () => running.back });
  return (
    <>
      <h1>Dashboard</h1>
      <button onClick={() => mutate()}>Pay</button>
    </>
  );
}

let stop = () => {};

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  goLive([
    slice('mfe-loans', { '/': <Payout /> }),
    slice('mfe-transactions', { '/transactions': 'History' }),
  ]);
  storeUser();
  stop = watchVersions();
  await Promise.resolve();
});

afterEach(() => {
  stop();
  newVersion.set(false);
});

type List = Schema<'LiveSlices'>;

/** Makes another list live, and lets a minute pass. */
async function aMinuteAfter(change: (list: List) => void) {
  const list = structuredClone(await window.__SLICES__!);
  change(list);
  const calls = answer('get', '/slices.json', 200, list);
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(0), PATIENCE);
  await act(() => vi.waitFor(async () => expect(await window.__SLICES__).toEqual(list), PATIENCE));
}

const renew = (name: string) => (list: List) => {
  list.slices[name] = { ...list.slices[name]!, version: '1.3.0', integrity: 'sha384-y' };
};

test('a new live build of a loaded slice shows a notice with Reload', async () => {
  const { user } = await openDashboard();
  await aMinuteAfter(renew('mfe-loans'));
  expect(await screen.findByText(NOTICE)).toBeVisible();
  const reload = vi.fn();
  vi.stubGlobal('location', { reload });
  await user.click(screen.getByRole('button', { name: 'Reload' }));
  expect(reload).toHaveBeenCalledOnce();
});

test('the notice is held back while a payout runs', async () => {
  const { user } = await openDashboard();
  await user.click(screen.getByRole('button', { name: 'Pay' }));
  await aMinuteAfter(renew('mfe-loans'));
  expect(newVersion.get()).toBe(true);
  expect(screen.queryByText(NOTICE)).toBeNull();
  await act(() => Promise.resolve(running.release()));
  expect(await screen.findByText(NOTICE)).toBeVisible();
});

test('a slice that was not loaded yet is loaded in its new version, without a notice', async () => {
  const { click } = await openDashboard();
  await aMinuteAfter(renew('mfe-transactions'));
  expect(screen.queryByText(NOTICE)).toBeNull();
  await click(screen.getByRole('link', { name: 'Transactions' }));
  expect(await heading('History')).toBeVisible();
});

test('a new shell shows a notice, which disappears when the old one is live again', async () => {
  await openDashboard();
  await aMinuteAfter((list) => (list.shell = { ...list.shell!, build: 'd4e5f6' }));
  expect(await screen.findByText(NOTICE)).toBeVisible();
  await aMinuteAfter((list) => (list.shell = { ...list.shell!, build: 'a1b2c3' }));
  await vi.waitFor(() => expect(screen.queryByText(NOTICE)).toBeNull(), PATIENCE);
});

test('a list that can’t be read shows no notice, and the last one stays in use', async () => {
  await openDashboard();
  const lost = hold();
  const checks = vi.spyOn(window, 'fetch').mockImplementation(async () => {
    await lost.back;
    throw new TypeError('Failed to fetch');
  });
  // Of a machine that wakes up, the interval is over, and the page is shown, before the network is back.
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  document.dispatchEvent(new Event('visibilitychange'));
  await vi.waitFor(() => expect(checks).toHaveBeenCalledTimes(2), PATIENCE);
  lost.release();
  await Promise.allSettled(checks.mock.results.map(({ value }) => value as Promise<Response>));
  await act(() => Promise.resolve());
  expect(screen.queryByText(NOTICE)).toBeNull();
  expect((await window.__SLICES__!).slices).toHaveProperty('mfe-loans');
});

test('a hidden page does not check', async () => {
  await openDashboard();
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  // A call would have no prepared answer and fail the test.
  const calls = answer('get', '/slices.json', 200, await window.__SLICES__!);
  await act(() => vi.advanceTimersByTimeAsync(120_000));
  expect(calls).toEqual([]);
});
