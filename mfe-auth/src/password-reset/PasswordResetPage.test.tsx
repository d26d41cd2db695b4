import { session } from 'mfe-kit';
import {
  answer,
  failure,
  garbled,
  hold,
  renderSlice,
  screen,
  signedIn,
  standingToasts,
  unreachable,
  waitFor,
} from 'mfe-kit/testing';
import { cleanup, fireEvent } from '@testing-library/react';
import { beforeEach, describe, expect, test } from 'vitest';
import slice from '../slice';
import { validationError } from './reset';

const REQUEST = '/api/v1/auth/request-password-reset';
const RESET = '/api/v1/auth/reset-password';

const EMAIL = 'agent@mkopo.test';

const email = () => screen.getByLabelText('Email');
const code = () => screen.getByLabelText('Verification Code');
const newPassword = () => screen.getByLabelText('New Password');
const confirmation = () => screen.getByLabelText('Confirm New Password');
const button = (name: string) => screen.getByRole('button', { name });

beforeEach(() => session.start());

async function open(at: Parameters<typeof renderSlice>[1] = '/password-reset') {
  const { router, user } = renderSlice(slice, at);
  await screen.findByRole('heading', { name: 'Enter your email' });
  return { router, user };
}

/** Sends the first step's form. */
async function sendEmail() {
  const { router, user } = await open();
  await user.paste(EMAIL);
  await user.keyboard('{Enter}');
  return { router, user };
}

/** Requests a code, which opens the second step; the answer is not read, and need not be JSON. */
async function requestCode() {
  garbled('post', REQUEST, 'sent');
  const drawn = await sendEmail();
  await screen.findByLabelText('Verification Code');
  return drawn;
}

test('a reload stays at the step of the code, and Back to Login forgets it', async () => {
  const { router } = await requestCode();
  const { pathname, state } = router.state.location as { pathname: string; state: unknown };
  cleanup();
  const { user } = renderSlice(slice, { pathname, state });
  expect(await screen.findByLabelText('Verification Code')).toHaveFocus();
  expect(screen.getByText(new RegExp(EMAIL))).toBeVisible();
  await user.click(screen.getByRole('link', { name: 'Back to Login' }));
  await user.click(await screen.findByRole('link', { name: 'Forgot password?' }));
  expect(await screen.findByLabelText('Email')).toHaveValue(EMAIL);
});

/** Fills in the second step. */
async function fillIn(passwords: [string, string] = ['New-pass-2', 'New-pass-2']) {
  const { router, user } = await requestCode();
  await user.paste('481516');
  await user.click(newPassword());
  await user.paste(passwords[0]);
  await user.click(confirmation());
  await user.paste(passwords[1]);
  return { router, user };
}

/** Fills in the second step and sends it. */
async function reset(passwords?: [string, string]) {
  const { router, user } = await fillIn(passwords);
  await user.keyboard('{Enter}');
  return { router, user };
}

describe('the email step', () => {
  test('REQ-130..136 REQ-138 comes first', async () => {
    const { user } = await open();
    expect(document.title).toBe('Reset your password · Mkopo');
    expect(screen.getByText('We will send a verification code to your phone.')).toBeVisible();
    expect(email()).toHaveAttribute('type', 'email');
    expect(email()).toHaveFocus();
    expect(button('Send Reset Code')).toBeDisabled();
    expect(screen.getByRole('link', { name: 'Back to Login' })).toHaveAttribute('href', '/login');
    expect(screen.getByRole('contentinfo')).toHaveTextContent(`© ${new Date().getFullYear()} Mkopo`);
    await user.click(button('Switch to dark theme'));
    expect(document.documentElement).toHaveClass('dark');
    await user.type(email(), 'a');
    expect(button('Send Reset Code')).toBeEnabled();
  });

  test('the email typed at sign-in is filled in, and kept on the way back', async () => {
    const from = { pathname: '/reports', search: '', hash: '', key: 'x', state: null };
    const { router, user } = await open({ pathname: '/password-reset', state: { email: EMAIL, from } });
    expect(email()).toHaveValue(EMAIL);
    await user.click(screen.getByRole('link', { name: 'Back to Login' }));
    expect(await screen.findByLabelText('Password')).toHaveFocus();
    expect(email()).toHaveValue(EMAIL);
    expect(router.state.location).toMatchObject({ search: '', state: { from } });
  });

  test('REQ-139 a form submitted without an email shows an error', async () => {
    await open();
    fireEvent.submit(button('Send Reset Code').closest('form')!);
    expect(await screen.findByText('Please enter your email address')).toBeVisible();
    expect(email()).toHaveAccessibleDescription('Please enter your email address');
    expect(email()).toHaveFocus();
  });

  test('REQ-137 REQ-140 REQ-141 REQ-142 REQ-144 REQ-145 toasts show the progress, and the second step opens', async () => {
    const held = hold();
    const toasts = standingToasts();
    const received = answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    await sendEmail();
    expect(await screen.findByRole('button', { name: 'Sending Code...' })).toBeDisabled();
    expect(email()).toBeDisabled();
    expect(toasts()).toEqual(['Sending reset code...']);
    held.release();
    expect(
      await screen.findByText(`We sent a verification code to the phone tied to ${EMAIL}.`),
    ).toBeVisible();
    expect(toasts()).toEqual(['Password reset code sent! Please check your SMS.']);
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL }]);
    expect(code()).toHaveFocus();
  });

  test('the code field has the focus from the moment it is there', async () => {
    const focused: (Element | null)[] = [];
    const observer = new MutationObserver(() => {
      if (screen.queryByLabelText('Verification Code')) focused.push(document.activeElement);
    });
    observer.observe(document.body, { childList: true, subtree: true });
    const held = hold();
    answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    await sendEmail();
    await screen.findByRole('button', { name: 'Sending Code...' });
    held.release();
    await screen.findByLabelText('Verification Code');
    observer.disconnect();
    expect(focused[0]).toBe(code());
  });

  test('a code that is sent after its form was left does not open the second step', async () => {
    const held = hold();
    const toasts = standingToasts();
    answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    const { router, user } = await sendEmail();
    await user.click(screen.getByRole('link', { name: 'Back to Login' }));
    await screen.findByRole('heading', { name: 'Sign in' });
    held.release();
    await expect.poll(toasts).toEqual(['Password reset code sent! Please check your SMS.']);
    expect(router.state.location.pathname).toBe('/login');
    expect(screen.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  });

  test.for([
    ['refused', () => answer('post', REQUEST, 429, failure('Wait 30 seconds')), 'Wait 30 seconds'],
    ['missing', () => unreachable('post', REQUEST), 'Failed to send reset code. Please try again.'],
  ] as const)(
    'REQ-143 REQ-144 when the response is %s, a toast says so and the form keeps its values',
    async ([, fail, message]) => {
      const toasts = standingToasts();
      fail();
      await sendEmail();
      await expect.poll(toasts).toEqual([message]);
      expect(email()).toHaveValue(EMAIL);
      await waitFor(() => expect(email()).toHaveFocus());
    },
  );

  test('REQ-143 an unknown email address is marked', async () => {
    answer('post', REQUEST, 404, failure('user not found'));
    await sendEmail();
    await waitFor(() => expect(email()).toHaveAccessibleDescription('Email not found.'));
  });
});

describe('the password step', () => {
  test('REQ-146..148 REQ-156 needs a code of six digits and the same password twice', async () => {
    const { user } = await requestCode();
    expect(code()).toHaveAttribute('autocomplete', 'one-time-code');
    expect(newPassword()).toHaveAttribute('autocomplete', 'new-password');
    expect(confirmation()).toHaveAttribute('autocomplete', 'new-password');
    await user.paste('48a15 1');
    expect(code()).toHaveValue('48151');
    await user.click(newPassword());
    await user.paste('New-pass-2');
    await user.click(confirmation());
    await user.paste('New-pass-2');
    expect(button('Reset Password')).toBeDisabled();
    await user.type(code(), '67');
    expect(code()).toHaveValue('481516');
    expect(button('Reset Password')).toBeEnabled();
    await user.type(confirmation(), 'x');
    expect(button('Reset Password')).toBeDisabled();
    expect(screen.getByText('Passwords do not match')).toBeVisible();
    expect(confirmation()).toHaveAccessibleDescription('Passwords do not match');
  });

  test('REQ-148 an incomplete confirmation is an error only after its field loses focus', async () => {
    const { user } = await fillIn(['New-pass-2', 'New-pa']);
    expect(screen.queryByText('Passwords do not match')).toBeNull();
    await user.tab();
    expect(screen.getByText('Passwords do not match')).toBeVisible();
  });

  test.for([
    ['REQ-152', '', 'New-pass', 'New-pass', 'otp', 'Please enter the verification code'],
    ['REQ-153', '481516', '', '', 'newPassword', 'Please enter your new password'],
    ['REQ-153', '481516', '      ', '      ', 'newPassword', 'Please enter your new password'],
    ['REQ-154', '481516', 'New-pass', 'New-pasx', 'confirmPassword', 'Passwords do not match'],
    ['REQ-155', '481516', '12345', '12345', 'newPassword', 'Password must be at least 6 characters long'],
  ] as const)(
    '%s code "%s", password "%s" and "%s": %s',
    ([, otp, newPassword, confirmPassword, field, text]) => {
      expect(validationError({ otp, newPassword, confirmPassword })).toEqual({ field, text });
    },
  );

  test('REQ-155 a password of six characters is long enough', () => {
    expect(validationError({ otp: '481516', newPassword: '123456', confirmPassword: '123456' })).toBeNull();
  });

  test('REQ-155 a password that is too short is marked and not sent', async () => {
    const received = answer('post', RESET, 200, { message: 'done' });
    await reset(['12345', '12345']);
    expect(newPassword()).toHaveFocus();
    expect(newPassword()).toHaveAccessibleDescription('Password must be at least 6 characters long');
    expect(received).toEqual([]);
  });

  test('REQ-149 REQ-157..160 a reset opens sign-in with the email address filled in', async () => {
    const held = hold();
    const toasts = standingToasts();
    const received = answer('post', RESET, 200, { message: 'done' }, { until: held.back });
    const { router } = await reset();
    expect(await screen.findByRole('button', { name: 'Resetting Password...' })).toBeDisabled();
    for (const control of [
      code(),
      newPassword(),
      confirmation(),
      button('Back to Email'),
      button('Resend code'),
    ])
      expect(control).toBeDisabled();
    expect(toasts()).toEqual(['Resetting password...']);
    held.release();
    expect(await screen.findByLabelText('Password')).toHaveFocus();
    expect(router.state.location.pathname).toBe('/login');
    expect(email()).toHaveValue(EMAIL);
    expect(toasts()).toEqual(['Password reset successful! You can now sign in with your new password.']);
    expect(received.map(({ body }) => body)).toEqual([
      { email: EMAIL, otp: '481516', new_password: 'New-pass-2' },
    ]);
  });

  test('REQ-160 a signed-in user is signed out by the reset, whose answer need not be JSON', async () => {
    garbled('post', RESET, 'done');
    session.signIn(signedIn().user);
    await reset();
    expect(await screen.findByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect(localStorage.getItem('auth_token')).toBeNull();
  });

  test('REQ-161 a wrong code is marked, and the passwords stay', async () => {
    const toasts = standingToasts();
    answer('post', RESET, 400, failure('invalid or expired code'));
    const { user } = await reset();
    await waitFor(() => expect(code()).toHaveFocus());
    expect(toasts()).toEqual(['invalid or expired code']);
    expect(code()).toHaveAccessibleDescription('Check the code, or have a new one sent.');
    expect(newPassword()).toHaveValue('New-pass-2');
    await user.keyboard('2');
    expect(code()).toHaveValue('2');
  });

  test('REQ-161 a password that the provider rejects is marked', async () => {
    answer('post', RESET, 422, failure('the new password is too common'));
    await reset();
    await waitFor(() => expect(newPassword()).toHaveFocus());
    expect(code()).toHaveValue('481516');
  });

  test('REQ-158 REQ-161 when the response is missing, the form keeps its values', async () => {
    const toasts = standingToasts();
    unreachable('post', RESET);
    await reset();
    await expect.poll(toasts).toEqual(['Failed to reset password. Please try again.']);
    expect(code()).toHaveValue('481516');
    expect(newPassword()).toHaveValue('New-pass-2');
    expect(confirmation()).toHaveValue('New-pass-2');
    await waitFor(() => expect(confirmation()).toHaveFocus());
  });

  test('REQ-150 REQ-162 REQ-163 Back to Email keeps only the email address', async () => {
    const toasts = standingToasts();
    const { user } = await fillIn();
    await user.click(button('Back to Email'));
    expect(toasts()).toEqual(['Switched back to email entry']);
    expect(await screen.findByRole('heading', { name: 'Enter your email' })).toBeVisible();
    expect(email()).toHaveValue(EMAIL);
    expect(email()).toHaveFocus();
    await user.keyboard('{Enter}');
    expect(await screen.findByLabelText('Verification Code')).toHaveValue('');
    expect(newPassword()).toHaveValue('');
    expect(confirmation()).toHaveValue('');
  });

  test('REQ-151 REQ-164 Resend code clears the field, requests a code and focuses the field', async () => {
    const held = hold();
    const toasts = standingToasts();
    const { user } = await fillIn();
    const received = answer('post', REQUEST, 200, { message: 'sent' }, { until: held.back });
    await user.click(button('Resend code'));
    expect(await screen.findByRole('button', { name: 'Sending...' })).toBeDisabled();
    expect(code()).toHaveValue('');
    expect(toasts()).toEqual(['Sending reset code...']);
    held.release();
    await waitFor(() => expect(code()).toHaveFocus());
    expect(newPassword()).toHaveValue('New-pass-2');
    expect(received.map(({ body }) => body)).toEqual([{ email: EMAIL }]);
  });
});
