import { ApiError, session, setPortalSettings } from 'mfe-kit';
import { answer, currentUser, garbled, preferences, signedIn, silent } from 'mfe-kit/testing';
import { describe, expect, test, vi } from 'vitest';
import { fieldAtFault, rejectedField, signInByCode, signInByPassword } from './sign-in';

const CREDENTIALS = { email: 'agent@mkopo.test', password: 'Mkopo-demo-1' };

describe.for([
  ['by password', '/api/v1/auth/login', () => signInByPassword(CREDENTIALS)],
  ['by code', '/api/v1/auth/verify-signin-otp', () => signInByCode(CREDENTIALS, '481516')],
] as const)('%s', ([, path, signIn]) => {
  test.for([
    ['not JSON', '<html>'],
    ['empty', ''],
    ['null', 'null'],
    ['without a user', '{}'],
    ['without a token', '{"user":{"username":"A","email":"a@b.c"}}'],
    ['with an empty token', '{"user":{"token":"","username":"A","email":"a@b.c"}}'],
    ['with a token that is not text', '{"user":{"token":7,"username":"A","email":"a@b.c"}}'],
    ['without a name', '{"user":{"token":"t","email":"a@b.c"}}'],
    ['without an address', '{"user":{"token":"t","username":"A"}}'],
  ])('REQ-062 REQ-122 an answer that is %s signs nobody in', async ([, body = '']) => {
    localStorage.setItem('auth_token', 'left over');
    garbled('post', path, body);
    await expect(signIn()).rejects.toMatchObject({ kind: 'malformed' });
    expect(session.state.status).toBe('signed-out');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });

  test('a name that is a number is one', async () => {
    const { user } = signedIn();
    garbled('post', path, JSON.stringify({ user: { ...user, username: 712 } }));
    answer('get', '/api/v1/auth/me', 200, currentUser());
    await signIn();
    expect(session.state.user).toMatchObject({ username: '712' });
  });

  test('an answer that is too late signs nobody in', async () => {
    localStorage.setItem('auth_token', 'left over');
    silent('post', path);
    await expect(signIn()).rejects.toMatchObject({ kind: 'timeout' });
    expect(session.state.status).toBe('signed-out');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });

  test('a session that the browser does not store is ended at the provider, and the sign-in fails', async () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    });
    answer('post', path, 200, signedIn());
    const ended = answer('post', '/api/v1/auth/logout', 204, undefined);
    await expect(signIn()).rejects.toThrow('The browser did not store the session');
    await expect.poll(() => ended).toHaveLength(1);
    expect(ended[0]?.headers.get('Authorization')).toBe(`Bearer ${signedIn().user.token}`);
    expect(session.state.status).toBe('signed-out');
  });

  test('with live screens, the session has the name and the role of the answer', async () => {
    setPortalSettings({ screens: 'live' });
    answer('post', path, 200, signedIn());
    answer('get', '/api/v1/preferences', 200, preferences());
    const read = answer('get', '/api/v1/auth/me', 200, currentUser());
    await signIn();
    await expect.poll(() => read).toHaveLength(1);
    const { name, role } = signedIn().user;
    expect(session.state.user).toMatchObject({ name, role });
  });
});

const refused = (facts: { status?: number; error?: string; message?: string }) =>
  new ApiError({ kind: 'server', ...facts });

test('a failure is about a field by its error or its message, or about none', () => {
  expect(fieldAtFault(refused({ error: 'User not found' }))?.field).toBe('email');
  expect(fieldAtFault(refused({ message: 'Invalid password' }))?.field).toBe('password');
  expect(fieldAtFault(refused({ error: 'invalid password', message: 'No.' }))?.field).toBe('password');
  for (const other of [refused({ error: 'account is inactive' }), refused({}), new Error('invalid password')])
    expect(fieldAtFault(other)).toBeNull();
});

test('only a refused code is to be checked', () => {
  const check = 'Check the code, or have a new one sent.';
  expect(rejectedField(refused({ status: 400, error: 'invalid or expired code' }))?.text).toBe(check);
  for (const other of [refused({ status: 500 }), new ApiError({ kind: 'network' }), new Error('400')])
    expect(rejectedField(other)).toBeNull();
});
