import { session, type Slice } from 'mfe-kit';
import { answer, collectNotifications, failure, screen, within } from 'mfe-kit/testing';
import { act, render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { routes } from './router';
import { loadBuild } from './slices/federation';
import { forgetSlices } from './slices/load-slice';

// Federation needs a built portal; what loads a build is replaced at that one place.
vi.mock('./slices/federation', () => ({ loadBuild: vi.fn() }));

const build = (name: string) => ({
  version: '1.2.3',
  entry: `/slices/${name}/1.2.3/mf-manifest.json`,
  integrity: 'sha384-x',
  shell: '^0.1.0',
  previous: null,
});

const slice = (name: string, path: string, text: string): Slice => ({
  name,
  version: '1.2.3',
  routes: [{ path, element: <h1>{text}</h1> }],
});

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  forgetSlices();
  window.__SLICES__ = Promise.resolve({
    portal: { brand: 'Mkopo', product: 'the product', demo: false, allow_override: false },
    slices: {
      'mfe-auth': build('mfe-auth'),
      'mfe-loans': build('mfe-loans'),
      'mfe-transactions': build('mfe-transactions'),
    },
  });
  vi.mocked(loadBuild).mockImplementation((name) =>
    Promise.resolve(
      {
        'mfe-auth': slice('mfe-auth', '/login', 'Sign in'),
        'mfe-loans': slice('mfe-loans', '/', 'Dashboard'),
        'mfe-transactions': slice('mfe-transactions', '/brand-new', 'Brand new'),
      }[name]!,
    ),
  );
  session.start();
});

/** Lets what was suspended during an act go on. */
const settle = () => act(() => new Promise((resolve) => setTimeout(resolve)));

async function open(address: string) {
  const router = createMemoryRouter(routes, { initialEntries: [address] });
  await act(async () => {
    render(<RouterProvider router={router} />);
    await Promise.resolve();
  });
  return { router, user: userEvent.setup() };
}

function signIn() {
  answer('get', '/api/v1/auth/me', 401, failure('unused'));
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
  // The guard's look at the session is not what these tests are about.
  localStorage.removeItem('auth_token');
}

test('REQ-018 a visitor is sent to sign-in, and Back does not lead to the page', async () => {
  const { router } = await open('/pending-loans');
  expect(await screen.findByRole('heading', { name: 'Sign in' })).toBeVisible();
  expect(router.state.location).toMatchObject({
    pathname: '/login',
    state: { from: { pathname: '/pending-loans' } },
  });
  expect(router.state.historyAction).toBe('REPLACE');
});

test('REQ-019 REQ-030 /dashboard is the dashboard, inside the layout', async () => {
  signIn();
  const { router } = await open('/dashboard');
  expect(await screen.findByRole('heading', { name: 'Dashboard' })).toBeVisible();
  expect(router.state.location.pathname).toBe('/');
  const entries = within(screen.getByRole('navigation', { name: 'Main' })).getAllByRole('link');
  expect(entries.map((entry) => entry.textContent)).toEqual([
    'Dashboard',
    'Pending Loans',
    'Transactions',
    'Settings',
  ]);
});

test('REQ-026 to REQ-028 an address that leads nowhere is not found, for visitors too', async () => {
  await open('/nowhere');
  expect(await screen.findByRole('heading', { name: 'Page Not Found' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Back to Dashboard' })).toBeVisible();
});

test('a screen that a slice was given after the shell was built is found', async () => {
  signIn();
  await open('/brand-new');
  expect(await screen.findByRole('heading', { name: 'Brand new' })).toBeVisible();
});

test('a slice that fails is named in its place, the rest goes on, and Retry loads it', async () => {
  signIn();
  vi.mocked(loadBuild).mockRejectedValue(new Error('Its code could not be had'));
  const { user } = await open('/');
  const reason = 'mfe-loans 1.2.3: Its code could not be had';
  expect(await screen.findByText(reason, {}, { timeout: 4000 })).toBeVisible();
  expect(screen.getByRole('link', { name: 'Pending Loans' })).toBeVisible();
  vi.mocked(loadBuild).mockResolvedValue(slice('mfe-loans', '/', 'Dashboard'));
  await user.click(screen.getByRole('button', { name: 'Retry' }));
  await settle();
  expect(await screen.findByRole('heading', { name: 'Dashboard' })).toBeVisible();
});

test('REQ-057 REQ-063 Logout leads to sign-in and leaves nothing stored', async () => {
  signIn();
  const shown = collectNotifications();
  const { router, user } = await open('/');
  await user.click(await screen.findByRole('button', { name: 'Account of Achieng' }));
  await user.click(screen.getByRole('menuitem', { name: 'Logout' }));
  await expect.poll(() => router.state.location.pathname).toBe('/login');
  expect(localStorage.getItem('user')).toBeNull();
  expect(shown).toEqual([]);
});

test('REQ-067 an ended session leads to sign-in with the page it ended on, and Back does not lead there', async () => {
  signIn();
  const { router } = await open('/brand-new?tab=1');
  await screen.findByRole('heading', { name: 'Brand new' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  act(() => session.expire());
  expect(screen.getByText('Your session has expired. Please log in again.')).toBeVisible();
  act(() => void vi.advanceTimersByTime(999));
  expect(router.state.location.pathname).toBe('/brand-new');
  act(() => void vi.advanceTimersByTime(1));
  expect(router.state.location).toMatchObject({
    pathname: '/login',
    search: '?sessionExpired=true',
    state: { from: { pathname: '/brand-new', search: '?tab=1' } },
  });
  expect(router.state.historyAction).toBe('REPLACE');
});

test('who signs out leaves no page for the next user to land on', async () => {
  signIn();
  const { router } = await open('/brand-new');
  await screen.findByRole('heading', { name: 'Brand new' });
  act(() => session.clear());
  await expect.poll(() => router.state.location.pathname).toBe('/login');
  expect(router.state.location.state).toBeNull();
});

test('signing out in another tab leads to sign-in here', async () => {
  signIn();
  const { router } = await open('/brand-new');
  await screen.findByRole('heading', { name: 'Brand new' });
  localStorage.removeItem('user');
  act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'user' })));
  await expect.poll(() => router.state.location.pathname).toBe('/login');
});
