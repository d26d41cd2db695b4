import { act } from '@testing-library/react';
import { connection } from 'mfe-kit';
import { screen, waitFor, within } from 'mfe-kit/testing';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { goLive, heading, open, openDashboard, slice, storeUser } from '../testing/portal';

const DEMO = 'Demo: the data is invented and no money moves.';
const OFFLINE = 'You are offline. Payouts wait until you are back.';

const live = (settings: { demo: boolean; sandbox?: string }) =>
  goLive([slice('mfe-auth', { '/login': 'Sign in' }), slice('mfe-loans', { '/': 'Dashboard' })], settings);

beforeAll(() => connection.start());
afterEach(() => live({ demo: false }));

test.for([
  ['/login', 'Sign in', false],
  ['/', 'Dashboard', true],
  ['/nowhere', 'Page Not Found', true],
] as const)('a demo says so on top of %s', async ([address, title, isSignedIn]) => {
  live({ demo: true });
  if (isSignedIn) storeUser();
  await open(address);
  await heading(title);
  expect(screen.getByText(DEMO)).toBeVisible();
});

test('a sandbox says which one it is, on the page and in the tab', async () => {
  live({ demo: true, sandbox: 'pr-12' });
  storeUser();
  await open('/settings');
  await heading('Settings');
  expect(screen.getByText('Sandbox pr-12: the data is invented and no money moves.')).toBeVisible();
  expect(screen.queryByText(DEMO)).toBeNull();
  expect(document.title).toBe('Settings · Mkopo · pr-12');
});

test('a portal that is not a demo has no demo notice', async () => {
  live({ demo: false });
  await open('/login');
  await heading('Sign in');
  expect(screen.queryByText(DEMO)).toBeNull();
});

test('being offline is announced on top of the page until it is over', async () => {
  live({ demo: false });
  storeUser();
  await openDashboard();
  const [region] = screen.getAllByRole('status');
  vi.stubGlobal('fetch', vi.fn().mockRejectedValue(new TypeError('Failed to fetch')));
  act(() => void window.dispatchEvent(new Event('offline')));
  expect(within(region!).getByText(OFFLINE)).toBeVisible();
  vi.stubGlobal('fetch', vi.fn().mockResolvedValue(new Response()));
  act(() => void window.dispatchEvent(new Event('online')));
  await waitFor(() => expect(screen.queryByText(OFFLINE)).toBeNull());
});
