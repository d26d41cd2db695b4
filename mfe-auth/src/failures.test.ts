import { ApiError, failureText } from 'mfe-kit';
import { expect, test } from 'vitest';
import { failures } from './failures';

const server = (error?: string, message?: string) =>
  new ApiError({ kind: 'server', status: 400, error, message });
const LOST = new ApiError({ kind: 'network' });
const LATE = new ApiError({ kind: 'timeout' });
const UNREADABLE = new ApiError({ kind: 'malformed', status: 200 });

test.for([
  ['REQ-095', 'signIn', server('user not found'), 'Email not found. Please check your email address.'],
  ['REQ-096', 'signIn', server('Invalid password'), 'Incorrect password. Please try again.'],
  ['REQ-097', 'signIn', server('account is inactive'), 'Your account is inactive. Please contact support.'],
  ['REQ-094', 'signIn', server('read first', 'not read'), 'read first'],
  ['REQ-094', 'signIn', server(undefined, 'read instead'), 'read instead'],
  ['REQ-098', 'signIn', server(), 'Login failed. Please try again.'],
  ['REQ-099', 'signIn', LOST, 'An unexpected error occurred. Please try again.'],
  ['REQ-099', 'signIn', LATE, 'An unexpected error occurred. Please try again.'],
  ['REQ-099', 'signIn', UNREADABLE, 'An unexpected error occurred. Please try again.'],
  ['REQ-099', 'signIn', new Error('storage is full'), 'An unexpected error occurred. Please try again.'],
  ['REQ-100', 'signIn', undefined, 'Login failed. Please check your credentials and try again.'],
  ['REQ-121', 'signInByCode', server('not read', 'read first'), 'read first'],
  ['REQ-122', 'signInByCode', server(), 'OTP login failed'],
  ['REQ-122', 'signInByCode', LOST, 'OTP login failed'],
  ['REQ-108', 'signInCode', server('user not found', 'user not found'), 'user not found'],
  ['REQ-108', 'signInCode', server(), 'Failed to send OTP'],
  ['REQ-108', 'signInCode', LATE, 'Failed to send OTP'],
  ['REQ-109', 'signInCode', undefined, 'Failed to send verification code. Please try again.'],
  ['REQ-143', 'resetCode', server(undefined, 'user not found'), 'user not found'],
  ['REQ-143', 'resetCode', LOST, 'Failed to send reset code. Please try again.'],
  ['REQ-161', 'passwordReset', server(undefined, 'invalid or expired code'), 'invalid or expired code'],
  ['REQ-161', 'passwordReset', UNREADABLE, 'Failed to reset password. Please try again.'],
] as const)('%s %s: %s reads %s', ([, what, thrown, text]) => {
  expect(failureText(failures()[what], thrown)).toBe(text);
});

test('REQ-375 a server’s text is shown unchanged, even if it is a name of Object.prototype', () => {
  expect(failureText(failures().signIn, server('constructor'))).toBe('constructor');
  expect(Object.keys(failures().signIn.replacements)).toHaveLength(3);
});
