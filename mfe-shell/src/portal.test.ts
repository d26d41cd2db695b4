import { expect, test, vi } from 'vitest';
import { readSliceList } from './slices/slice-list';
import { PORTAL, SHELL } from './testing/portal';

const { load, startLive } = vi.hoisted(() => ({ load: vi.fn(), startLive: vi.fn() }));

vi.mock('./live/start-live', () => {
  load();
  return { startLive };
});

test('a page follows the server as soon as it knows that its screens are live, and has the code', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval'] });
  vi.spyOn(console, 'error').mockReturnValue();
  load.mockImplementationOnce(() => {
    throw new Error('Loading chunk 403 failed.');
  });
  document.body.innerHTML = '<div id="root"></div>';
  await import('./portal'); // there is no list
  await vi.advanceTimersByTimeAsync(20_000);
  expect(load).not.toHaveBeenCalled();
  // Retry reads it.
  window.__SLICES__ = Promise.resolve({ portal: { ...PORTAL, screens: 'live' }, shell: SHELL, slices: {} });
  await readSliceList();
  await vi.waitFor(() => expect(load).toHaveBeenCalledOnce());
  expect(startLive).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(5000);
  await vi.waitFor(() => expect(startLive).toHaveBeenCalledOnce());
});
