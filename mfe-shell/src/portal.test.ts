import { setPortalSettings } from 'mfe-kit';
import { expect, test, vi } from 'vitest';

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
  // Retry has read the list.
  setPortalSettings({ screens: 'live' });
  for (const attempts of [1, 2]) {
    expect(startLive).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(5000);
    await vi.waitFor(() => expect(load).toHaveBeenCalledTimes(attempts));
  }
  await vi.waitFor(() => expect(startLive).toHaveBeenCalledOnce());
});
