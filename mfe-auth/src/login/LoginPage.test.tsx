import { acts, currentUserQuery, queryClient, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  collectNotifications,
  currentUser,
  failure,
  garbled,
  hold,
  preferences,
  renderSlice,
  screen,
  signedIn,
  standingToasts,
  unreachable,
  waitFor,
} from 'mfe-kit/testing';
import { cleanup } from '@testing-library/react';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import slice from '../slice';
import { missingForCode } from './sign-in';

const LOGIN = '/api/v1/auth/login';
const REQUEST = '/api/v1/auth/request-signin-otp';
const VERIFY = '/api/v1/auth/verify-signin-otp';

const EMAIL = 'agent@mkopo.test';
const PASSWORD = 'Mkopo-demo-1';

const email = () => screen.getByLabelText<HTMLInputElement>('Email');
const password = () => screen.getByLabelText<HTMLInputElement>('Password');
const code = () => screen.getByLabelText('Verification Code');
const button = (name: string) => screen.getByRole('button', { name });

beforeEach(() => {
  session.start();
  answer('get', '/api/v1/auth/me', 200, currentUser());
});

/** Opens sign-in and fills in the form. */
async function fillIn(at: Parameters<typeof renderSlice>[1] = '/login') {
  const { router, user } = renderSlice(slice, at);
  await screen.findByLabelText('Email');
  await user.paste(EMAIL);
  await user.click(password());
  await user.paste(PASSWORD);
  return { router, user };
}

async function signIn(at?: Parameters<typeof renderSlice>[1]) {
  const { router, user } = await fillIn(at);
  await user.click(button('Sign in'));
  return { router, user };
}

/** Fills in the form and requests a code; the answer is not read, and need not be JSON (REQ-105). */
async function requestCode() {
  garbled('post', REQUEST, 'sent');
  const { router, user } = await fillIn();
  await user.click(button('Sign in with OTP'));
  await screen.findByRole('heading', { name: 'Enter Verification Code' });
  return { router, user };
}

describe('by password', () => {
  // S-42
  test('REQ-079 REQ-082..088 the form has email and password fields, with focus on the first', async () => {
    const { user } = renderSlice(slice, '/login');
    expect(await screen.findByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect(document.title).toBe('Sign in · Mkopo');
    expect(email()).toHaveAttribute('type', 'email');
    expect(email()).toBeRequired();
    expect(email()).toHaveAttribute('autocomplete', 'username');
    expect(email()).toHaveFocus();
    expect(password()).toBeRequired();
    expect(password()).toHaveAttribute('type', 'password');
    expect(password()).toHaveAttribute('autocomplete', 'current-password');
    expect(button('Sign in')).toBeEnabled();
    expect(button('Sign in with OTP')).toBeDisabled();
    expect(screen.getByRole('link', { name: 'Forgot password?' })).toHaveAttribute('href', '/password-reset');
    await user.click(screen.getByRole('checkbox', { name: 'Remember me' }));
    expect(screen.getByRole('checkbox', { name: 'Remember me' })).toBeChecked();
    expect(Object.keys(localStorage)).toEqual([]);
    await user.click(button('Switch to dark theme'));
    expect(document.documentElement).toHaveClass('dark');
    expect(localStorage.getItem('theme')).toBe('dark');
  });

  test('REQ-092 REQ-075 REQ-093 REQ-101 REQ-102 the right password signs in, shows a toast and opens the dashboard', async () => {
    const shown = collectNotifications();
    const received = answer('post', LOGIN, 200, signedIn());
    const { router } = await signIn();
    await screen.findByTestId('elsewhere');
    expect(router.state.location.pathname).toBe('/dashboard');
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL, password: PASSWORD }]);
    expect(shown).toMatchObject([{ type: 'success', message: 'Login successful! Welcome back to Mkopo!' }]);
    expect(localStorage.getItem('auth_token')).toBe('token-1');
    expect(JSON.parse(localStorage.getItem('user')!)).toMatchObject({
      id: 1,
      username: 'Achieng',
      role: 'admin',
    });
  });

  test('REQ-101 the toast names the deployment’s product', async () => {
    setPortalSettings({ brand: 'Pesa', product: 'Pesa Desk', demo: false });
    const shown = collectNotifications();
    answer('post', LOGIN, 200, signedIn());
    await signIn();
    await screen.findByTestId('elsewhere');
    expect(shown).toMatchObject([{ message: 'Login successful! Welcome back to Pesa Desk!' }]);
  });

  test('Enter in the password field submits the form', async () => {
    answer('post', LOGIN, 200, signedIn());
    const { user } = await fillIn();
    await user.keyboard('{Enter}');
    await screen.findByTestId('elsewhere');
  });

  test('sign-in returns to the page that was opened first, with its navigation state', async () => {
    answer('post', LOGIN, 200, signedIn());
    const from = { pathname: '/loans/7', search: '?a=1', hash: '', key: 'x', state: { loan: 7 } };
    const { router } = await signIn({ pathname: '/login', search: '?sessionExpired=true', state: { from } });
    await screen.findByTestId('elsewhere');
    expect(router.state.location).toMatchObject({
      pathname: '/loans/7',
      search: '?a=1',
      state: { loan: 7 },
    });
    expect(router.state.historyAction).toBe('REPLACE');
  });

  test.each(['/login', '/login?sessionExpired=true'])(
    'REQ-014 a signed-in user who opens %s is redirected to the dashboard',
    async (at) => {
      const shown = collectNotifications();
      session.signIn(signedIn().user);
      const { router } = renderSlice(slice, at);
      await screen.findByTestId('elsewhere');
      expect(router.state.location.pathname).toBe('/dashboard');
      expect(shown).toEqual([]);
    },
  );

  test.for([
    ['REQ-095', 404, 'user not found', email, 'Email not found.', ' Please check your email address.'],
    ['REQ-096', 400, 'invalid password', password, 'Incorrect password.', ' Please try again.'],
  ] as const)(
    '%s after a %d, "%s", its field is marked, and the next keystroke replaces its text',
    async ([, status, error, atFault, text, advice]) => {
      const shown = collectNotifications();
      answer('post', LOGIN, status, failure(error));
      const { user } = await signIn();
      await waitFor(() => expect(atFault()).toHaveFocus());
      expect(shown).toEqual([{ type: 'error', message: text + advice, key: 'sign-in' }]);
      expect(atFault()).toBeInvalid();
      expect(atFault()).toHaveAccessibleDescription(text);
      expect([email(), password()].map(({ value }) => value)).toEqual([EMAIL, PASSWORD]);
      await user.keyboard('o');
      expect(atFault()).toHaveValue('o');
      expect(atFault()).not.toHaveAttribute('aria-invalid');
    },
  );

  test('REQ-099 when the response is missing, nobody is signed in and the form keeps its values', async () => {
    const shown = collectNotifications();
    localStorage.setItem('auth_token', 'left over');
    unreachable('post', LOGIN);
    await signIn();
    await expect
      .poll(() => shown)
      .toMatchObject([{ type: 'error', message: 'An unexpected error occurred. Please try again.' }]);
    expect(session.state.status).toBe('signed-out');
    expect(localStorage.getItem('auth_token')).toBeNull();
    expect(email()).toHaveValue(EMAIL);
    expect(password()).toHaveValue(PASSWORD);
    await waitFor(() => expect(button('Sign in')).toHaveFocus());
  });

  test('a failure returns the focus to the field that had it from the start', async () => {
    const held = hold();
    answer('post', LOGIN, 503, failure('The service is busy'), { until: held.back });
    const { user } = renderSlice(slice, { pathname: '/login', state: { email: EMAIL } });
    await screen.findByLabelText('Password');
    await user.keyboard(`${PASSWORD}{Enter}`);
    await screen.findByRole('button', { name: 'Signing in...' });
    // Browsers take the focus from a field that is disabled; jsdom does not.
    button('Switch to dark theme').focus();
    button('Switch to dark theme').blur();
    held.release();
    await waitFor(() => expect(password()).toHaveFocus());
  });

  test('a 401 to a wrong password fails the sign-in and does not expire a session', async () => {
    const shown = collectNotifications();
    localStorage.setItem('auth_token', 'left over');
    // Another provider may answer this; ours does not.
    answer('post', LOGIN, 401 as 400, failure('invalid password'));
    await signIn();
    await expect.poll(() => shown).toMatchObject([{ message: 'Incorrect password. Please try again.' }]);
    expect(session.state).not.toHaveProperty('expiry');
  });

  test('REQ-087 REQ-091 while sign-in is pending the form is disabled and the button says so', async () => {
    const held = hold();
    const received = answer('post', LOGIN, 200, signedIn(), { until: held.back });
    const { user } = await signIn();
    expect(await screen.findByRole('button', { name: 'Signing in...' })).toBeDisabled();
    for (const control of [email(), password(), screen.getByRole('checkbox'), button('Sign in with OTP')])
      expect(control).toBeDisabled();
    await user.keyboard('{Enter}');
    held.release();
    await screen.findByTestId('elsewhere');
    expect(received).toHaveLength(1);
  });

  test('REQ-080 REQ-081 an expired session is explained once, and the parameter leaves the address', async () => {
    const shown = collectNotifications();
    const { router } = renderSlice(slice, '/login?sessionExpired=true&x=1');
    await screen.findByRole('heading', { name: 'Sign in' });
    expect(shown).toEqual([
      { type: 'info', message: 'Your session expired. Please log in again.', key: session.expiredToastKey },
    ]);
    expect(router.state.location.search).toBe('?x=1');
  });

  // S-42
  test('the password can be shown, and is hidden again while it is sent', async () => {
    const held = hold();
    answer('post', LOGIN, 400, failure('invalid password'), { until: held.back });
    const { user } = await fillIn();
    await user.click(button('Show'));
    expect(password()).toHaveAttribute('type', 'text');
    expect(button('Hide')).toHaveAccessibleDescription('Password');
    await user.click(button('Sign in'));
    expect(password()).toHaveAttribute('type', 'password');
    held.release();
    await waitFor(() => expect(password()).toHaveFocus());
  });

  test('Caps Lock is reported while the password is typed', async () => {
    const { user } = await fillIn();
    await user.keyboard('{CapsLock}');
    expect(password()).toHaveAccessibleDescription('Caps Lock is on.');
    await user.keyboard('{CapsLock}x');
    expect(password()).not.toHaveAccessibleDescription();
  });

  test.for([
    ['outside a demo', { demo: false, console: 'http://127.0.0.1:8081' }],
    ['in a demo whose console is off', { demo: true, console: null }],
  ] as const)('%s there is no link to an outbox', async ([, settings]) => {
    setPortalSettings({ brand: 'Mkopo', product: 'Mkopo', ...settings });
    renderSlice(slice, '/login');
    await screen.findByLabelText('Email');
    expect(screen.queryByRole('link', { name: /outbox/ })).toBeNull();
  });

  test("in a demo there is a link to the outbox, on the console's own address", async () => {
    setPortalSettings({ brand: 'Mkopo', product: 'Mkopo', demo: true, console: 'http://127.0.0.1:8081' });
    renderSlice(slice, '/login');
    const link = await screen.findByRole('link', { name: 'outbox (opens in a new tab)' });
    expect(link).toHaveAttribute('href', 'http://127.0.0.1:8081/console/outbox');
    expect(link).toHaveAttribute('target', '_blank');
  });
});

describe('requesting a code', () => {
  test('REQ-090 it needs an email address and a password', async () => {
    const { user } = renderSlice(slice, '/login');
    await user.type(await screen.findByLabelText('Email'), EMAIL);
    expect(button('Sign in with OTP')).toBeDisabled();
    await user.type(password(), 'x');
    expect(button('Sign in with OTP')).toBeEnabled();
    await user.clear(email());
    expect(button('Sign in with OTP')).toBeDisabled();
  });

  test.for([
    ['REQ-103', '', '', 'email', 'Please enter your email address first'],
    ['REQ-103', '  ', 'x', 'email', 'Please enter your email address first'],
    ['REQ-104', EMAIL, '', 'password', 'Please enter your password first'],
  ] as const)('%s with "%s" and "%s" the %s is missing', ([, email, password, field, text]) => {
    expect(missingForCode({ email, password })).toEqual({ field, text });
  });

  test('REQ-104 a password of spaces counts as missing', async () => {
    const { user } = await fillIn();
    await user.clear(password());
    await user.type(password(), '   ');
    await user.click(button('Sign in with OTP'));
    expect(password()).toHaveFocus();
    expect(password()).toHaveAccessibleDescription('Please enter your password first');
  });

  test('an invalid email address is not sent', async () => {
    const received = answer('post', REQUEST, 200, { message: 'sent' });
    const { user } = renderSlice(slice, '/login');
    await user.type(await screen.findByLabelText('Email'), 'achieng');
    await user.type(password(), PASSWORD);
    await user.click(button('Sign in with OTP'));
    expect(screen.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect(received).toEqual([]);
  });

  test('REQ-089 REQ-105..107 REQ-110 REQ-111 REQ-112 toasts show the progress, and the code form opens', async () => {
    const held = hold();
    const toasts = standingToasts();
    const received = answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    const { user } = await fillIn();
    await user.click(button('Sign in with OTP'));
    expect(await screen.findByRole('button', { name: 'Sending OTP...' })).toBeDisabled();
    for (const control of [email(), password(), button('Sign in')]) expect(control).toBeDisabled();
    expect(toasts()).toEqual(['Sending verification code...']);
    held.release();
    expect(await screen.findByRole('heading', { name: 'Enter Verification Code' })).toBeVisible();
    expect(screen.getByText(`We sent a 6-digit code to ${EMAIL}.`)).toBeVisible();
    expect(toasts()).toEqual(['Verification code sent! Please check your email.']);
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL }]);
    expect(code()).toHaveFocus();
  });

  test.for([
    ['refused', () => answer('post', REQUEST, 429, failure('Wait 30 seconds')), 'Wait 30 seconds'],
    ['missing', () => unreachable('post', REQUEST), 'Failed to send OTP'],
  ] as const)(
    'REQ-108 REQ-110 when the response is %s, a toast says so and the form keeps its values',
    async ([, fail, message]) => {
      const toasts = standingToasts();
      fail();
      const { user } = await fillIn();
      await user.click(button('Sign in with OTP'));
      await expect.poll(toasts).toEqual([message]);
      expect(password()).toHaveValue(PASSWORD);
      await waitFor(() => expect(button('Sign in with OTP')).toHaveFocus());
    },
  );

  test('a code that is sent after its form was left opens no step', async () => {
    const held = hold();
    const toasts = standingToasts();
    answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    const { router, user } = await fillIn();
    await user.click(button('Sign in with OTP'));
    await user.click(screen.getByRole('link', { name: 'Forgot password?' }));
    await screen.findByRole('heading', { name: 'Enter your email' });
    held.release();
    await expect.poll(toasts).toEqual(['Verification code sent! Please check your email.']);
    expect(router.state.location.pathname).toBe('/password-reset');
    expect(screen.getByRole('heading', { name: 'Enter your email' })).toBeVisible();
  });

  test('REQ-108 an unknown email address is marked', async () => {
    answer('post', REQUEST, 404, failure('user not found'));
    const { user } = await fillIn();
    await user.click(button('Sign in with OTP'));
    await waitFor(() => expect(email()).toHaveFocus());
    expect(email()).toHaveAccessibleDescription('Email not found.');
  });
});

describe('by code', () => {
  test('REQ-113..118 the code field keeps six digits of what is typed or pasted', async () => {
    const { user } = await requestCode();
    expect(code()).toBeRequired();
    expect(code()).toHaveAttribute('inputmode', 'numeric');
    expect(code()).toHaveAttribute('autocomplete', 'one-time-code');
    await user.type(code(), '4a8 1-5x1');
    expect(code()).toHaveValue('48151');
    expect(button('Verify & Sign in')).toBeDisabled();
    await user.keyboard('623');
    expect(code()).toHaveValue('481516');
    expect(button('Verify & Sign in')).toBeEnabled();
    await user.clear(code());
    await user.paste(' 123 456\n');
    expect(code()).toHaveValue('123456');
  });

  test('REQ-119 REQ-120 REQ-128 REQ-129 the right code signs in, and the current user is cached', async () => {
    const shown = collectNotifications();
    const received = answer('post', VERIFY, 200, signedIn());
    const { router, user } = await requestCode();
    await user.keyboard('481516{Enter}');
    await screen.findByTestId('elsewhere');
    expect(router.state.location.pathname).toBe('/dashboard');
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL, password: PASSWORD, otp: '481516' }]);
    expect(localStorage.getItem('auth_token')).toBe('token-1');
    expect(shown.at(-1)).toMatchObject({ message: 'Login successful! Welcome back to Mkopo!' });
    await expect
      .poll(() => queryClient.getQueryData(currentUserQuery().queryKey))
      .toMatchObject({ name: 'Achieng Otieno' });
  });

  test('REQ-117 REQ-091 while verification is pending the form is disabled and the button says so', async () => {
    const held = hold();
    answer('post', VERIFY, 200, signedIn(), { until: held.back });
    const { user } = await requestCode();
    await user.keyboard('481516{Enter}');
    expect(await screen.findByRole('button', { name: 'Verifying...' })).toBeDisabled();
    for (const control of [code(), button('Back to Login'), button('Resend code')])
      expect(control).toBeDisabled();
    held.release();
    await screen.findByTestId('elsewhere');
  });

  test('REQ-121 REQ-122 a wrong code clears the token, and the next keystroke replaces the code', async () => {
    const toasts = standingToasts();
    answer('post', VERIFY, 400, { ...failure('not read'), message: 'invalid or expired code' });
    localStorage.setItem('auth_token', 'left over');
    const { user } = await requestCode();
    await user.keyboard('481516{Enter}');
    await expect.poll(toasts).toEqual(['invalid or expired code']);
    expect(localStorage.getItem('auth_token')).toBeNull();
    await waitFor(() => expect(code()).toHaveFocus());
    expect(code()).toHaveAccessibleDescription('Check the code, or have a new one sent.');
    expect(code()).toHaveValue('481516');
    await user.keyboard('2');
    expect(code()).toHaveValue('2');
  });

  test('a wrong password is asked for again at the step of the code', async () => {
    answer('post', VERIFY, 400, failure('invalid password'));
    const { user } = await requestCode();
    await user.keyboard('481516{Enter}');
    await waitFor(() => expect(password()).toHaveFocus());
    expect(password()).toHaveAccessibleDescription('Incorrect password.');
    expect(code()).not.toHaveAttribute('aria-invalid');
    const received = answer('post', VERIFY, 200, signedIn());
    await user.keyboard('Mkopo-demo-2{Enter}');
    await screen.findByTestId('elsewhere');
    expect(received[0]?.body).toEqual({ email: EMAIL, password: 'Mkopo-demo-2', otp: '481516' });
  });

  test('a reload stays at the step of the code, asks for the password again, and is forgotten after sign-in', async () => {
    const before = await requestCode();
    const { pathname, state } = before.router.state.location as { pathname: string; state: object };
    expect(
      JSON.stringify([state, Object.entries(localStorage), Object.entries(sessionStorage)]),
    ).not.toContain(PASSWORD);
    cleanup();
    const from = { pathname: '/loans/7', search: '', hash: '', key: 'x', state: null };
    const { router, user } = renderSlice(slice, { pathname, state: { ...state, from } });
    expect(await screen.findByLabelText('Verification Code')).toHaveFocus();
    expect(screen.getByText(`We sent a 6-digit code to ${EMAIL}.`)).toBeVisible();
    await user.keyboard('481516');
    expect(button('Verify & Sign in')).toBeDisabled();
    const received = answer('post', VERIFY, 200, signedIn());
    await user.type(password(), `${PASSWORD}{Enter}`);
    await screen.findByTestId('elsewhere');
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL, password: PASSWORD, otp: '481516' }]);
    expect(router.state.location).toMatchObject({ pathname: '/loans/7', state: null });
  });

  test('after a reload another code needs the password first, and Back to Login keeps the email', async () => {
    const requests = answer('post', REQUEST, 200, { message: 'sent' });
    const { user } = renderSlice(slice, { pathname: '/login', state: { email: EMAIL, isCodeSent: true } });
    await user.click(await screen.findByRole('button', { name: 'Resend code' }));
    expect(password()).toHaveFocus();
    expect(password()).toHaveAccessibleDescription('Please enter your password first');
    expect(requests).toEqual([]);
    await user.keyboard('x');
    await user.click(button('Resend code'));
    await waitFor(() => expect(code()).toHaveFocus());
    expect(requests).toHaveLength(1);
    await user.click(button('Back to Login'));
    expect(await screen.findByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect(email()).toHaveValue(EMAIL);
  });

  test('REQ-122 when the response is missing, nobody is signed in and the code stays', async () => {
    const toasts = standingToasts();
    unreachable('post', VERIFY);
    const { user } = await requestCode();
    await user.keyboard('481516{Enter}');
    await expect.poll(toasts).toEqual(['OTP login failed']);
    expect(code()).toHaveValue('481516');
    expect(session.state.status).toBe('signed-out');
    await waitFor(() => expect(code()).toHaveFocus());
  });

  test('REQ-123..125 Back to Login clears the code and keeps email and password', async () => {
    const toasts = standingToasts();
    const { user } = await requestCode();
    await user.keyboard('4815');
    await user.click(button('Back to Login'));
    expect(toasts()).toEqual(['Switched back to regular login']);
    expect(email()).toHaveValue(EMAIL);
    expect(password()).toHaveValue(PASSWORD);
    expect(password()).toHaveFocus();
    await user.click(button('Sign in with OTP'));
    expect(await screen.findByLabelText('Verification Code')).toHaveValue('');
  });

  test('REQ-126 REQ-127 Resend code clears the field, requests a code and focuses the field', async () => {
    const held = hold();
    const toasts = standingToasts();
    const { user } = await requestCode();
    const received = answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    await user.keyboard('4815');
    await user.click(button('Resend code'));
    expect(await screen.findByRole('button', { name: 'Sending...' })).toBeDisabled();
    expect(code()).toBeDisabled();
    expect(code()).toHaveValue('');
    expect(toasts()).toEqual(['Sending verification code...']);
    held.release();
    await waitFor(() => expect(code()).toHaveFocus());
    expect(toasts()).toEqual(['Verification code sent! Please check your email.']);
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL }]);
  });
});

describe('with live screens', () => {
  beforeEach(() => setPortalSettings({ screens: 'live' }));

  test('a code is requested with the password, also again', async () => {
    const { user } = await requestCode();
    const requests = answer('post', REQUEST, 200, { message: 'sent' });
    await user.click(button('Resend code'));
    await waitFor(() => expect(code()).toHaveFocus());
    await user.click(button('Back to Login'));
    await user.click(button('Sign in with OTP'));
    expect(await screen.findByRole('heading', { name: 'Enter Verification Code' })).toBeVisible();
    const withPassword = { email: EMAIL, password: PASSWORD };
    expect(requests.map(({ body }) => body)).toEqual([withPassword, withPassword]);
  });

  test('each step of sign-in is one act, and what is read for the new session is of the last', async () => {
    const ended: string[] = [];
    onTestFinished(acts.record(({ name, failed }) => ended.push(`${name} ${failed}`)));
    answer('post', LOGIN, 403, failure('A code is required.', 'code_required'));
    const asked = [
      ...[answer('post', REQUEST, 200, { message: 'sent' }), answer('post', VERIFY, 200, signedIn())],
      answer('get', '/api/v1/preferences', 200, preferences()),
    ];
    const { user } = await signIn();
    await user.type(await screen.findByLabelText('Verification Code'), '123456');
    await user.click(button('Verify & Sign in'));
    await waitFor(() => expect(ended).toHaveLength(3));
    expect(ended.toSorted()).toEqual(['sign in false', 'sign in false', 'sign in true']);
    const [forCode, forSession, forPerson] = asked.map(([first]) => first?.headers.get('traceparent'));
    expect(forCode).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(forSession).not.toBe(forCode);
    expect(forPerson).toBe(forSession);
  });

  // S-46
  test('an account that needs a code gets one for its password, and goes on to its field', async () => {
    answer('post', LOGIN, 403, failure('A code is required.', 'code_required'));
    const requests = answer('post', REQUEST, 200, { message: 'sent' });
    await signIn();
    expect(await screen.findByRole('heading', { name: 'Enter Verification Code' })).toBeVisible();
    expect(requests.map(({ body }) => body)).toEqual([{ email: EMAIL, password: PASSWORD }]);
  });

  test('a wrong password is marked when a code is requested, as at sign-in', async () => {
    const toasts = standingToasts();
    answer('post', REQUEST, 400, failure('Invalid password', 'invalid_password'));
    const { user } = await fillIn();
    await user.click(button('Sign in with OTP'));
    await waitFor(() => expect(password()).toHaveFocus());
    expect(toasts()).toEqual(['Incorrect password. Please try again.']);
    expect(password()).toHaveAccessibleDescription('Incorrect password.');
    expect(email()).toHaveValue(EMAIL);
    await user.keyboard('x');
    expect(password()).toHaveValue('x');
    expect(password()).not.toHaveAttribute('aria-invalid');
  });

  test('a password that was changed meanwhile is reported when another code is requested', async () => {
    const { user } = await requestCode();
    answer('post', REQUEST, 400, failure('Invalid password', 'invalid_password'));
    await user.click(button('Resend code'));
    await waitFor(() => expect(password()).toHaveFocus());
    expect(password()).toHaveAccessibleDescription('Incorrect password.');
  });
});
