import { session } from 'mfe-kit';
import { garbled, silent } from 'mfe-kit/testing';
import { describe, expect, test } from 'vitest';
import { signInByCode, signInByPassword } from './sign-in';

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

  test('an answer that is too late signs nobody in', async () => {
    localStorage.setItem('auth_token', 'left over');
    silent('post', path);
    await expect(signIn()).rejects.toMatchObject({ kind: 'timeout' });
    expect(session.state.status).toBe('signed-out');
    expect(localStorage.getItem('auth_token')).toBeNull();
  });
});
