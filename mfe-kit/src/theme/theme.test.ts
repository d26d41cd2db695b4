import { beforeEach, expect, test, vi } from 'vitest';

/** The system's preference, which can change. */
function system(prefers: 'light' | 'dark') {
  const query = Object.assign(new EventTarget(), { matches: prefers === 'dark' });
  vi.stubGlobal('matchMedia', () => query);
  return {
    changeTo: (preference: 'light' | 'dark') => {
      query.matches = preference === 'dark';
      query.dispatchEvent(new Event('change'));
    },
  };
}

async function start() {
  const { theme } = await import('./theme');
  theme.start();
  return theme;
}

const isMarked = () => document.documentElement.classList.contains('dark');

beforeEach(() => vi.resetModules());

test('REQ-165 the stored choice wins over the system', async () => {
  system('dark');
  localStorage.setItem('theme', 'light');
  expect((await start()).current).toBe('light');
  expect(isMarked()).toBe(false);
});

test('REQ-166 without a choice the system decides, also when it changes', async () => {
  const { changeTo } = system('dark');
  const theme = await start();
  expect([theme.current, isMarked()]).toEqual(['dark', true]);
  changeTo('light');
  expect([theme.current, isMarked()]).toEqual(['light', false]);
  theme.toggle();
  changeTo('light');
  expect(theme.current).toBe('dark');
});

test('REQ-170 any other stored value is ignored', async () => {
  system('light');
  localStorage.setItem('theme', 'blue');
  expect((await start()).current).toBe('light');
});

test('a choice made in another tab is followed', async () => {
  system('light');
  const theme = await start();
  const told = vi.fn();
  theme.subscribe(told);
  localStorage.setItem('theme', 'dark');
  window.dispatchEvent(new StorageEvent('storage', { key: 'theme' }));
  expect([theme.current, isMarked()]).toEqual(['dark', true]);
  expect(told).toHaveBeenCalledOnce();
});

test('a choice that the browser does not store holds for the page', async () => {
  system('light');
  const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  });
  const theme = await start();
  theme.toggle();
  expect([theme.current, isMarked()]).toEqual(['dark', true]);
  full.mockRestore();
  theme.toggle();
  expect([theme.current, localStorage.getItem('theme')]).toEqual(['light', 'light']);
});

test('a page is light while it is printed', async () => {
  system('dark');
  await start();
  window.dispatchEvent(new Event('beforeprint'));
  expect(isMarked()).toBe(false);
  window.dispatchEvent(new Event('afterprint'));
  expect(isMarked()).toBe(true);
});
