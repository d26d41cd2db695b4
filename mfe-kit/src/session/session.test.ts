import { QueryClient, QueryObserver } from '@tanstack/react-query';
import {
  api,
  ApiError,
  currentUserQuery,
  dataOf,
  formatDate,
  portalSettings,
  portalTimeZone,
  preferencesQuery,
  queryClient,
  session,
  setPortalSettings,
  signOut,
} from 'mfe-kit';
import {
  answer,
  collectNotifications,
  currentUser,
  failure,
  garbled,
  HOSTILE_TEXTS,
  preferences,
  silent,
  unreachable,
} from 'mfe-kit/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

const SIGN_IN = { token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' };
const pending = () =>
  dataOf(api.GET('/api/v1/disbursements/pending'), 'Failed to fetch pending disbursements');

/** Another tab of the browser has changed what is stored. */
const otherTab = (change: () => void) => {
  change();
  window.dispatchEvent(new StorageEvent('storage', { key: 'user' }));
};

const storeUser = (username = SIGN_IN.username, email = SIGN_IN.email) =>
  localStorage.setItem('user', JSON.stringify({ id: 1, username, email }));

beforeEach(() => vi.spyOn(console, 'error').mockImplementation(() => undefined));

// S-93
test('REQ-061 REQ-071..074 signing in keeps the token and an admin with id 1', () => {
  session.signIn(SIGN_IN);
  expect(localStorage.getItem('auth_token')).toBe('token-1');
  expect(JSON.parse(localStorage.getItem('user') ?? '')).toMatchObject({
    id: 1,
    username: 'Achieng',
    email: 'agent@mkopo.test',
    role: 'admin',
    avatar: expect.stringMatching(/^data:image/),
  });
  expect(session.state.status).toBe('signed-in');
});

test('whatever a username is, its session can be stored and read', () => {
  for (const username of HOSTILE_TEXTS) {
    session.signIn({ ...SIGN_IN, username });
    session.start();
    expect(session.state.user?.avatar, JSON.stringify(username)).toMatch(/^data:image/);
    expect(session.state.user?.username).toBe(username);
  }
});

test('a sign-in that the browser does not store leaves no session behind', () => {
  localStorage.setItem('auth_token', 'token-0');
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation((key) => {
    if (key === 'user') throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  });
  expect(() => session.signIn(SIGN_IN)).toThrow('The browser did not store the session');
  expect(session.state.status).toBe('signed-out');
  expect(localStorage.getItem('auth_token')).toBeNull();
});

test('REQ-366 a call carries the stored token, and none when none is stored', async () => {
  const received = answer('get', '/api/v1/disbursements/pending', 200, []);
  await pending();
  session.signIn(SIGN_IN);
  await pending();
  expect(received.map(({ headers }) => headers.get('Authorization'))).toEqual([null, 'Bearer token-1']);
});

test('REQ-363 REQ-364 calls go to /api/v1/ of the provider, as JSON', async () => {
  const received = answer('get', '/api/v1/disbursements/pending', 200, []);
  await pending();
  expect(received.map(({ url, headers }) => [new URL(url).pathname, headers.get('Content-Type')])).toEqual([
    ['/api/v1/disbursements/pending', 'application/json'],
  ]);
});

test('REQ-064..068 several 401s at the same time end the session once, with a redirect to sign-in a second later', async () => {
  const shown = collectNotifications();
  answer('get', '/api/v1/disbursements/pending', 401, failure('No session', 'no_session'));
  session.signIn(SIGN_IN);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

  await Promise.allSettled([pending(), pending(), pending()]);

  expect(shown).toEqual([
    {
      type: 'error',
      message: 'Your session has expired. Please log in again.',
      duration: 2000,
      key: session.expiredToastKey,
    },
  ]);
  expect(localStorage.getItem('auth_token')).toBeNull();
  expect(localStorage.getItem('user')).toBeNull();
  expect(session.state).toMatchObject({ status: 'signed-out', expiry: 'ending' });
  vi.advanceTimersByTime(999);
  expect(session.state).toMatchObject({ expiry: 'ending' });
  vi.advanceTimersByTime(1);
  expect(session.state).toMatchObject({ expiry: 'ended' });
});

test('a 401 to a call without a token only fails that call', async () => {
  const shown = collectNotifications();
  answer('get', '/api/v1/disbursements/pending', 401, failure('No session', 'no_session'));
  await expect(pending()).rejects.toMatchObject({ status: 401 });
  expect(shown).toEqual([]);
});

// S-91
test('REQ-063 REQ-078 signing out clears this browser first, then ends the token at the provider', async () => {
  const received = answer('post', '/api/v1/auth/logout', 204, undefined);
  session.signIn(SIGN_IN);
  const done = signOut();
  expect(session.state.status).toBe('signed-out');
  expect(localStorage.getItem('auth_token')).toBeNull();
  await done;
  expect(received.map(({ headers }) => headers.get('Authorization'))).toEqual(['Bearer token-1']);
});

test('REQ-058 a sign-out that does not reach the provider is only logged', async () => {
  unreachable('post', '/api/v1/auth/logout');
  session.signIn(SIGN_IN);
  await signOut();
  expect(session.state.status).toBe('signed-out');
  expect(console.error).toHaveBeenCalledExactlyOnceWith(
    'Signing out at the provider failed',
    expect.any(ApiError),
  );
});

test('a failure has the server’s text, else the call’s', async () => {
  answer('get', '/api/v1/disbursements/pending', 503, failure('The service is busy', 'busy'));
  await expect(pending()).rejects.toMatchObject({
    kind: 'server',
    status: 503,
    code: 'busy',
    message: 'The service is busy',
  });
  unreachable('get', '/api/v1/disbursements/pending');
  const lost = await pending().catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(ApiError);
  expect(lost).toMatchObject({ kind: 'network', message: 'Failed to fetch pending disbursements' });
});

test('REQ-059 REQ-060 a stored user is signed in from the start, and none is signed out', () => {
  session.start();
  expect(session.state).toMatchObject({ status: 'signed-out', user: null });
  localStorage.setItem('user', JSON.stringify({ id: 1, name: 'Achieng Otieno', role: 'supervisor' }));
  session.start();
  expect(session.state).toMatchObject({
    status: 'signed-in',
    user: { name: 'Achieng Otieno', role: 'supervisor' },
  });
});

// S-101
test('REQ-076 an unknown stored role is ignored', () => {
  localStorage.setItem('user', JSON.stringify({ id: 1, username: 'Achieng', role: 'root' }));
  session.start();
  expect(session.state.user?.role).toBeUndefined();
});

test('REQ-064 a 401 also ends the session of a user whose token is missing', async () => {
  answer('get', '/api/v1/disbursements/pending', 401, failure('No session', 'no_session'));
  session.signIn(SIGN_IN);
  localStorage.removeItem('auth_token');
  await expect(pending()).rejects.toMatchObject({ status: 401 });
  expect(session.state).toMatchObject({ status: 'signed-out', expiry: 'ending' });
});

test('a 401 to an older token does not end the current session', async () => {
  answer('get', '/api/v1/disbursements/pending', 401, failure('No session', 'no_session'), { afterMs: 20 });
  session.signIn(SIGN_IN);
  const answered = pending();
  session.signIn({ ...SIGN_IN, token: 'token-2' });
  await expect(answered).rejects.toMatchObject({ status: 401 });
  expect(session.state.status).toBe('signed-in');
});

test('signing in again in another tab cancels the redirect here', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  session.start();
  session.signIn(SIGN_IN);
  session.expire();
  localStorage.setItem('auth_token', 'token-2');
  otherTab(() => storeUser());
  vi.advanceTimersByTime(1000);
  expect(session.state.status).toBe('signed-in');
});

test('data of one user is cleared when another user signs in in another tab', () => {
  session.start();
  session.signIn(SIGN_IN);
  queryClient.setQueryData(['pending-loans'], ['of Achieng']);
  otherTab(() => storeUser('Peter', 'supervisor@mkopo.test'));
  expect(session.state.user?.username).toBe('Peter');
  expect(queryClient.getQueryData(['pending-loans'])).toBeUndefined();
});

test('REQ-367 REQ-069 the current user is read with a token only, and is null after a 401', async () => {
  const observer = new QueryObserver(queryClient, currentUserQuery());
  onTestFinished(observer.subscribe(() => undefined));
  expect(observer.getCurrentResult().fetchStatus).toBe('idle');
  localStorage.setItem('auth_token', 'token-1');
  expect(new QueryObserver(new QueryClient(), currentUserQuery()).getCurrentResult().isEnabled).toBe(true);
  localStorage.clear();

  answer('get', '/api/v1/auth/me', 401, failure('No session', 'no_session'));
  session.signIn(SIGN_IN);
  // The portal's cache is cleared with the session, including this query.
  expect(await new QueryClient().query(currentUserQuery())).toBeNull();
  expect(localStorage.getItem('user')).toBeNull();
});

test('REQ-070 any other failure to read the current user is passed on', async () => {
  answer('get', '/api/v1/auth/me', 503, failure('The service is busy', 'busy'));
  session.signIn(SIGN_IN);
  await expect(queryClient.query({ ...currentUserQuery(), retry: false })).rejects.toMatchObject({
    status: 503,
  });
  expect(session.state.status).toBe('signed-in');
});

test('an empty answer for the current user is a failure', async () => {
  garbled('get', '/api/v1/auth/me', '');
  session.signIn(SIGN_IN);
  const read = queryClient.query({ ...currentUserQuery(), retry: false });
  await expect(read).rejects.toMatchObject({ kind: 'malformed' });
});

test('REQ-365 a call has a time limit of 10 seconds', async () => {
  silent('get', '/api/v1/disbursements/pending');
  await expect(pending()).rejects.toMatchObject({ kind: 'timeout' });
  expect(vi.mocked(AbortSignal).timeout).toHaveBeenCalledWith(10_000);
});

test('until the stored user is read, nobody is signed in or out; who signed out then has left', async () => {
  vi.resetModules();
  const { session: fresh } = await import('mfe-kit');
  expect(fresh.state).toEqual({ status: 'loading', user: null });
  fresh.start();
  expect(fresh.state).toMatchObject({ status: 'signed-out', hasLeft: false });
  fresh.clear();
  expect(fresh.state).toMatchObject({ hasLeft: false });
  fresh.signIn(SIGN_IN);
  fresh.clear();
  expect(fresh.state).toMatchObject({ hasLeft: true });
  otherTab(() => undefined);
  expect(fresh.state).toMatchObject({ hasLeft: true });
  fresh.signIn(SIGN_IN);
  fresh.expire();
  fresh.clear();
  expect(fresh.state).toMatchObject({ hasLeft: false });
});

test('what was read is kept while the same user is signed in, and gone after a sign-out elsewhere', () => {
  const read = () => queryClient.getQueryData(['pending-loans']);
  const isRead = () => void queryClient.setQueryData(['pending-loans'], ['of Achieng']);
  session.start();
  isRead();
  otherTab(() => undefined);
  expect(read(), 'nobody was signed in').toBeDefined();
  otherTab(() => storeUser());
  expect(read(), 'who signed in elsewhere has it').toBeDefined();
  otherTab(() => storeUser());
  expect(read(), 'the same user').toBeDefined();
  otherTab(() => localStorage.removeItem('user'));
  expect(read()).toBeUndefined();
});

test('a session ends once, and a sign-out elsewhere meanwhile does not hide why', () => {
  const shown = collectNotifications();
  session.start();
  session.signIn(SIGN_IN);
  session.expire();
  session.expire();
  expect(shown.map(({ key }) => key)).toEqual(['session-expired']);
  otherTab(() => localStorage.removeItem('user'));
  expect(session.state).toMatchObject({ expiry: 'ending' });
});

test('signing out with nobody signed in calls nobody', async () => {
  await signOut();
  expect(console.error).not.toHaveBeenCalled();
});

test.for([
  ['user', 'signed-out'],
  ['auth_token', 'signed-out'],
  [null, 'signed-out'],
  ['theme', 'signed-in'],
] as const)('a change of %s in another tab leaves this one %s', ([key, status]) => {
  session.start();
  session.signIn(SIGN_IN);
  localStorage.removeItem('user');
  window.dispatchEvent(new StorageEvent('storage', { key }));
  expect(session.state.status).toBe(status);
});

test('a page that Back shows as it was left belongs to whoever has signed in since', () => {
  session.start();
  session.signIn(SIGN_IN);
  queryClient.setQueryData(['pending-loans'], ['of Achieng']);
  storeUser('Peter', 'supervisor@mkopo.test');
  window.dispatchEvent(new Event('pageshow'));
  expect(session.state.user?.username).toBe('Peter');
  expect(queryClient.getQueryData(['pending-loans'])).toBeUndefined();
});

test('the expiry is over once sign-in is shown, and not before it has ended', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  session.signIn(SIGN_IN);
  session.expiryShown();
  expect(session.state.status).toBe('signed-in');
  session.expire();
  session.expiryShown();
  expect(session.state).toMatchObject({ expiry: 'ending' });
  vi.advanceTimersByTime(1000);
  session.expiryShown();
  expect(session.state).toEqual({ status: 'signed-out', user: null });
});

test('whoever no longer listens hears of no change', () => {
  const heard = vi.fn();
  const stop = session.subscribe(heard);
  session.signIn(SIGN_IN);
  expect(heard).toHaveBeenCalledOnce();
  stop();
  session.clear();
  expect(heard).toHaveBeenCalledOnce();
});

describe('where the screens are live', () => {
  beforeEach(() => setPortalSettings({ screens: 'live', time_zone: 'Africa/Nairobi' }));

  test('the role and the name are the server’s', () => {
    const facts = { name: 'Achieng Otieno', role: 'supervisor', language: 'sw', timeZone: 'UTC' } as const;
    session.signIn({ ...SIGN_IN, ...facts });
    expect(session.state.user).toMatchObject({ id: 1, ...facts });
  });

  test('a provider that names no role, or one that is not known, leaves it as specified', () => {
    session.signIn(SIGN_IN);
    expect(session.state.user?.role).toBe('admin');
    session.signIn({ ...SIGN_IN, role: 'auditor' });
    expect(session.state.user?.role).toBe('admin');
  });

  test('a role that was changed meanwhile is learned with the current user, and stored', async () => {
    session.signIn({ ...SIGN_IN, role: 'admin' });
    answer('get', '/api/v1/auth/me', 200, currentUser({ role: 'agent', name: 'Achieng A. Otieno' }));
    await queryClient.query(currentUserQuery());
    expect(session.state.user).toMatchObject({ role: 'agent', name: 'Achieng A. Otieno' });
    expect(JSON.parse(localStorage.getItem('user')!)).toMatchObject({ role: 'agent' });
  });

  test('what is learned is told only where it is new and somebody is signed in', () => {
    session.learn({ name: 'Nobody' });
    expect(localStorage.getItem('user')).toBeNull();
    session.signIn(SIGN_IN);
    const heard = vi.fn();
    onTestFinished(session.subscribe(heard));
    session.learn({ name: 'Achieng Otieno' });
    session.learn({ name: 'Achieng Otieno' });
    expect(heard).toHaveBeenCalledOnce();
    expect(session.state).toMatchObject({ status: 'signed-in', user: { name: 'Achieng Otieno' } });
  });

  test('dates are in the time zone that the person prefers, until they sign out', async () => {
    session.signIn(SIGN_IN);
    answer('get', '/api/v1/preferences', 200, preferences({ time_zone: 'UTC' }));
    await queryClient.query(preferencesQuery());
    expect(portalSettings().timeZone).toBe('UTC');
    expect(portalTimeZone()).toBe('Africa/Nairobi');
    session.start();
    expect(portalSettings().timeZone).toBe('UTC');
    session.clear();
    expect(portalSettings().timeZone).toBe('Africa/Nairobi');
  });

  test('a time zone that the browser does not know is not used: a person has the portal’s, the portal the default', () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    setPortalSettings({ screens: 'live', time_zone: 'UTC' });
    session.signIn({ ...SIGN_IN, timeZone: 'Europe/Atlantis' });
    expect(portalSettings().timeZone).toBe('UTC');
    expect(session.state.user?.timeZone).toBe('Europe/Atlantis');
    setPortalSettings({ screens: 'live', time_zone: 'Europe/Atlantis' });
    expect(portalTimeZone()).toBe('Africa/Nairobi');
    expect(formatDate('2026-11-12T22:30:00.000Z')).toBe('13 Nov 2026');
  });

  test('a provider without preferences has none', async () => {
    session.signIn(SIGN_IN);
    answer('get', '/api/v1/preferences', 404, failure('Not found', 'not_found'));
    expect(await queryClient.query(preferencesQuery())).toBeNull();
  });
});

test('where the screens are specified, nothing but the sign-in changes the stored user', async () => {
  session.signIn({ ...SIGN_IN, name: 'Achieng Otieno', role: 'agent', language: 'sw', timeZone: 'UTC' });
  const stored = localStorage.getItem('user');
  expect(JSON.parse(stored!)).not.toMatchObject({ language: 'sw' });
  expect(session.state.user).not.toHaveProperty('timeZone');
  expect(session.state.user).not.toHaveProperty('name');
  answer('get', '/api/v1/auth/me', 200, currentUser({ role: 'supervisor' }));
  await queryClient.query(currentUserQuery());
  expect(localStorage.getItem('user')).toBe(stored);
  expect(session.state.user?.role).toBe('admin');
});
