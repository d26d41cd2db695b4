import { act } from '@testing-library/react';
import { session } from 'mfe-kit';
import { answer, collectNotifications, failure, screen, waitFor } from 'mfe-kit/testing';
import { useState } from 'react';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { goLive, heading, open, slice, storeUser } from './testing/portal';

beforeEach(() => goLive());

test('REQ-016 REQ-018 REQ-077 a visitor is redirected to sign-in, and Back does not open the page', async () => {
  const { router } = await open('/pending-loans?search=kamau');
  expect(await heading('Sign in')).toBeVisible();
  expect(router.state.location).toMatchObject({
    pathname: '/login',
    search: '',
    state: { from: { pathname: '/pending-loans', search: '?search=kamau' } },
  });
  expect(router.state.historyAction).toBe('REPLACE');
});

test.for(['/', '/pending-loans', '/loans/LN-1', '/transactions', '/reports', '/settings', '/profile'])(
  'REQ-016 REQ-077 %s needs a signed-in user',
  async (address) => {
    const { router } = await open(address);
    expect(await heading('Sign in')).toBeVisible();
    expect(router.state.location.pathname).toBe('/login');
  },
);

test.for([
  ['/login', 'Sign in'],
  ['/password-reset', 'Enter your email'],
] as const)('REQ-013 REQ-015 %s is open to visitors, without the layout', async ([address, title]) => {
  const { router } = await open(address);
  expect(await heading(title)).toBeVisible();
  expect(router.state.location.pathname).toBe(address);
  expect(screen.queryByRole('navigation')).toBeNull();
});

test.for([
  ['/', 'Dashboard'],
  ['/pending-loans', 'Pending Disbursements'],
  ['/loans/LN-1', 'Loan Details'],
  ['/transactions', 'Transaction History'],
  ['/reports', 'Reports'],
  ['/settings', 'Settings'],
  ['/profile', 'My Profile'],
] as const)('REQ-019..025 REQ-031 %s is "%s", in the layout, for every role', async ([address, title]) => {
  storeUser({ role: 'agent' });
  const { router } = await open(address);
  expect(await heading(title)).toBeVisible();
  expect(router.state.location.pathname).toBe(address);
  expect(screen.getByRole('navigation', { name: 'Main' })).toBeVisible();
});

test('REQ-030 /dashboard is the dashboard', async () => {
  storeUser();
  const { router } = await open('/dashboard');
  expect(await heading('Dashboard')).toBeVisible();
  expect(router.state.location.pathname).toBe('/');
  expect(router.state.historyAction).toBe('REPLACE');
});

test('a call that is started for a screen answers a redirect to it, and no screen that is opened later', async () => {
  storeUser();
  const list = { status: 200, headers: new Headers(), text: '[]', at: Date.now() };
  const read = { authorization: 'Bearer token-1', answer: Promise.resolve(list) };
  const started = new Map([['/api/v1/disbursements/pending', read]]);
  window.__READS__ = { started, start: () => undefined };
  onTestFinished(() => {
    delete window.__READS__;
  });
  const { router } = await open('/dashboard');
  expect([router.state.location.pathname, started.size]).toEqual(['/', 1]);
  await act(() => router.navigate('/pending-loans'));
  expect(started.size).toBe(0);
});

test.for(['signed in', 'signed out'])(
  'REQ-026..028 an address that leads nowhere is not found, outside the layout, %s',
  async (who) => {
    if (who === 'signed in') storeUser();
    const { router, click } = await open('/nowhere');
    expect(await heading('Page Not Found')).toBeVisible();
    expect(screen.getByText('The page you are looking for could not be found.')).toBeVisible();
    expect(screen.queryByRole('navigation')).toBeNull();
    await click(screen.getByRole('button', { name: 'Back to Dashboard' }));
    expect(await heading(who === 'signed in' ? 'Dashboard' : 'Sign in')).toBeVisible();
    expect(router.state.location.pathname).toBe(who === 'signed in' ? '/' : '/login');
  },
);

test('where the browser stores nothing, every page says what to allow', async () => {
  const blocked = vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
    throw new DOMException('Access is denied for this document.', 'SecurityError');
  });
  goLive();
  await open('/login');
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'Allow cookies and site data for portal.test in the settings of the browser',
  );
  expect(screen.getByRole('button', { name: 'Reload' })).toBeVisible();
  blocked.mockRestore();
});

// S-63
test('REQ-057 REQ-058 REQ-063 REQ-078 Logout removes what is stored and goes to sign-in, even when the call fails', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  storeUser();
  const calls = answer('post', '/api/v1/auth/logout', 401, failure('unauthorized'));
  const shown = collectNotifications();
  const { router, user, click } = await open('/');
  await user.click(await screen.findByRole('button', { name: 'Account of Achieng' }));
  await click(screen.getByRole('menuitem', { name: 'Logout' }));
  expect(await heading('Sign in')).toBeVisible();
  expect(router.state.location.pathname).toBe('/login');
  expect([localStorage.getItem('auth_token'), localStorage.getItem('user')]).toEqual([null, null]);
  await waitFor(() => expect(logged).toHaveBeenCalledWith(expect.any(String), expect.any(Error)));
  expect(calls[0]?.headers.get('Authorization')).toBe('Bearer token-1');
  expect(shown).toEqual([]);
});

test('REQ-029 REQ-064 REQ-067 REQ-069 an ended session redirects to sign-in after a second, once', async () => {
  storeUser();
  answer('get', '/api/v1/auth/me', 401, failure('unauthorized'));
  const shown = collectNotifications();
  const { router } = await open('/transactions?page=2');
  await waitFor(() => expect(session.state).toMatchObject({ expiry: 'ending' }));
  expect([localStorage.getItem('auth_token'), localStorage.getItem('user')]).toEqual([null, null]);
  expect(router.state.location.pathname).toBe('/transactions');
  expect(screen.getByRole('button', { name: 'Account of Achieng' })).toBeVisible();
  expect(screen.getByRole('link', { name: 'Transactions' })).toBeVisible();
  expect(await screen.findByRole('heading', { name: 'Sign in' })).toBeVisible();
  expect(router.state.location).toMatchObject({
    pathname: '/login',
    search: '?sessionExpired=true',
    state: { from: { pathname: '/transactions', search: '?page=2' } },
  });
  expect(router.state.historyAction).toBe('REPLACE');
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatchObject({
    type: 'error',
    message: 'Your session has expired. Please log in again.',
    duration: 2000,
  });
});

test('after a sign-out the next user does not return to the last user’s page', async () => {
  storeUser();
  const { router } = await open('/settings');
  await heading('Settings');
  await act(() => Promise.resolve(session.clear()));
  expect(await heading('Sign in')).toBeVisible();
  expect(router.state.location).toMatchObject({ pathname: '/login', state: null });
});

test('REQ-016 Back goes to sign-in too when it is pressed before sign-in is drawn', async () => {
  storeUser();
  const { router } = await open('/settings');
  await heading('Settings');
  await act(() => router.navigate('/transactions'));
  await act(async () => {
    session.clear();
    await expect.poll(() => router.state.location.pathname).toBe('/login');
    await router.navigate(-1);
    expect(router.state.location.pathname).toBe('/settings');
  });
  expect(await heading('Sign in')).toBeVisible();
  expect(router.state.location).toMatchObject({ pathname: '/login', state: null });
});

test('after a navigation the focus is on the heading of the new page, but not on the first page', async () => {
  storeUser();
  const { click } = await open('/');
  expect(await heading('Dashboard')).not.toHaveFocus();
  await click(screen.getByRole('link', { name: 'Transactions' }));
  expect(await heading('Transaction History')).toHaveFocus();
});

test('the focus waits for a late heading, unless the user acts first', async () => {
  let draw: (isDrawn: boolean) => void = () => {};
  function Late() {
    const [isDrawn, setDrawn] = useState(false);
    draw = setDrawn;
    return isDrawn ? <h1>Late</h1> : <p>Not yet</p>;
  }
  goLive([slice('mfe-auth', { '/profile': 'My Profile' }), slice('mfe-loans', { '/': <Late /> })]);
  storeUser();
  const { user, click } = await open('/settings');
  await heading('Settings');

  await click(screen.getByRole('link', { name: 'Dashboard' }));
  await screen.findByText('Not yet');
  act(() => draw(true));
  await waitFor(() => expect(screen.getByRole('heading', { name: 'Late' })).toHaveFocus());

  await click(screen.getByRole('link', { name: 'Settings' }));
  await heading('Settings');
  await click(screen.getByRole('link', { name: 'Dashboard' }));
  await screen.findByText('Not yet');
  await user.tab();
  const elsewhere = document.activeElement;
  act(() => draw(true));
  expect(await heading('Late')).toBeVisible();
  expect(elsewhere).toHaveFocus();
});

test('a list that keeps its state in the address keeps the focus too', async () => {
  storeUser();
  const { router, user } = await open('/settings');
  await heading('Settings');
  const field = await screen.findByLabelText('Retry Attempts');
  await user.click(field);
  await act(() => router.navigate('/settings?page=2', { replace: true }));
  expect(field).toHaveFocus();
});
