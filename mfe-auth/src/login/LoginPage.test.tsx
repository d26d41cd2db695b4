import { session } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  failure,
  renderSlice,
  screen,
  signedIn,
  unreachable,
} from 'mfe-kit/testing';
import { beforeEach, expect, test } from 'vitest';
import slice from '../slice';

beforeEach(() => session.start());

async function signIn(email = 'agent@mkopo.test', password = 'Mkopo-demo-1') {
  const { router, user } = renderSlice(slice, '/login');
  await user.type(await screen.findByLabelText('Email'), email);
  await user.type(screen.getByLabelText('Password'), password);
  await user.click(screen.getByRole('button', { name: 'Sign in' }));
  return router;
}

test('REQ-092 REQ-101 REQ-102 a right password signs in, says so and goes to the dashboard', async () => {
  const shown = collectNotifications();
  const received = answer('post', '/api/v1/auth/login', 200, signedIn());
  const router = await signIn();
  await screen.findByTestId('elsewhere');
  expect(router.state.location.pathname).toBe('/dashboard');
  expect(received.map(({ body }) => body)).toEqual([{ email: 'agent@mkopo.test', password: 'Mkopo-demo-1' }]);
  expect(shown).toMatchObject([
    { type: 'success', message: 'Login successful! Welcome back to the product!' },
  ]);
  expect(localStorage.getItem('auth_token')).toBe('token-1');
});

test.for([
  [404, 'user not found', 'Email not found. Please check your email address.'],
  [400, 'invalid password', 'Incorrect password. Please try again.'],
  [403, 'account is inactive', 'Your account is inactive. Please contact support.'],
  [429, 'Too many tries. Wait a minute.', 'Too many tries. Wait a minute.'],
] as const)('REQ-095 to REQ-098 %d %s reads: %s', async ([status, text, message]) => {
  const shown = collectNotifications();
  answer('post', '/api/v1/auth/login', status, failure(text));
  await signIn();
  await expect.poll(() => shown).toMatchObject([{ type: 'error', message }]);
  expect(session.state.status).toBe('signed-out');
});

test('REQ-099 a sign-in that reached nobody is an unexpected error', async () => {
  const shown = collectNotifications();
  unreachable('post', '/api/v1/auth/login');
  await signIn();
  await expect
    .poll(() => shown)
    .toMatchObject([{ message: 'An unexpected error occurred. Please try again.' }]);
});

test('REQ-087 REQ-091 while it is pending the form is closed and the button says so', async () => {
  answer('post', '/api/v1/auth/login', 200, signedIn(), { afterMs: 500 });
  await signIn();
  expect(await screen.findByRole('button', { name: 'Signing in...' })).toBeDisabled();
  expect(screen.getByLabelText('Email')).toBeDisabled();
  await screen.findByTestId('elsewhere');
});

test('REQ-080 REQ-081 an ended session is explained once, and its mark leaves the address', async () => {
  const shown = collectNotifications();
  const { router } = renderSlice(slice, '/login?sessionExpired=true');
  await screen.findByRole('heading', { name: 'Sign in' });
  expect(shown).toMatchObject([{ type: 'info', message: 'Your session expired. Please log in again.' }]);
  expect(router.state.location.search).toBe('');
});
