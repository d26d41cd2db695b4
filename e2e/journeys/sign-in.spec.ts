import type { Page } from '@playwright/test';
import { PASSWORD } from 'mkopo-test';
import { expectAccessible } from '../accessibility';
import { expect, test } from '../test';

const EMAIL = 'agent@mkopo.test';
/** The demo agent's phone. */
const PHONE = '+254711000003';

const email = (page: Page) => page.getByLabel('Email');
const password = (page: Page) => page.getByLabel('Password', { exact: true });
const code = (page: Page) => page.getByLabel('Verification Code');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dashboard = (page: Page) => page.getByRole('heading', { level: 1, name: 'Dashboard' });

test('REQ-013 REQ-086 REQ-101 REQ-102 sign in by password, with the keyboard alone', async ({ page }) => {
  await page.goto('/transactions?status=failed');
  await expect(email(page)).toBeFocused();
  await expectAccessible(page);

  await test.step('an unknown email address is selected, so that typing replaces it', async () => {
    await page.keyboard.type('nobody@mkopo.test');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Wrong-password');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Email not found. Please check your email address.')).toBeVisible();
    await expect(email(page)).toBeFocused();
    await expectAccessible(page);
  });

  await test.step('a wrong password is selected too', async () => {
    await page.keyboard.type(EMAIL);
    await page.keyboard.press('Enter');
    await expect(page.getByText('Incorrect password. Please try again.')).toBeVisible();
    await expect(password(page)).toBeFocused();
    await expect(email(page)).toHaveValue(EMAIL);
  });

  await test.step('the right ones open the page that was opened first', async () => {
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    const toast = page.getByText('Login successful! Welcome back to Mkopo!');
    await expect(toast, 'REQ-376: top right').toBeVisible();
    const box = await toast.boundingBox();
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
    expect(box?.x).toBeGreaterThan(width / 2);
    expect(box?.y).toBeLessThan(height / 4);
    await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
    await expect(page).toHaveURL(/\/transactions\?status=failed$/);
  });

  // S-93
  await test.step('REQ-374 nothing else is stored, and /login opens the dashboard', async () => {
    expect(await page.evaluate(() => Object.keys(localStorage).sort())).toEqual(['auth_token', 'user']);
    await page.goto('/login');
    await expect(dashboard(page)).toBeVisible();
  });
});

test('REQ-097 a deactivated account sees a message', async ({ page }) => {
  await page.goto('/login');
  await email(page).fill('inactive@mkopo.test');
  await password(page).fill(PASSWORD);
  await button(page, 'Sign in').click();
  await expect(page.getByText('Your account is inactive. Please contact support.')).toBeVisible();
  await expect(button(page, 'Sign in')).toBeFocused();
});

test('REQ-105..129 sign in by a code from the email', async ({ page, mkopo }) => {
  await page.goto('/login');
  await email(page).fill(EMAIL);
  await password(page).fill(PASSWORD);
  await button(page, 'Sign in with OTP').click();
  await expect(page.getByText('Verification code sent! Please check your email.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Enter Verification Code' })).toBeVisible();
  await expect(page.getByText(`We sent a 6-digit code to ${EMAIL}.`)).toBeVisible();
  await expect(code(page)).toBeFocused();
  await expectAccessible(page);
  const sent = await mkopo.outbox.code({ to: 'agent' });

  await test.step('a wrong code is selected, so that typing replaces it', async () => {
    await page.keyboard.type(sent === '111111' ? '222222' : '111111');
    await page.keyboard.press('Enter');
    await expect(page.getByText('invalid or expired code')).toBeVisible();
    await expect(code(page)).toBeFocused();
    await expectAccessible(page);
  });

  await test.step('the right one can be pasted with spaces', async () => {
    await page.keyboard.insertText(`${sent.slice(0, 3)} ${sent.slice(3)}`);
    await expect(code(page)).toHaveValue(sent);
    await page.keyboard.press('Enter');
    await expect(dashboard(page)).toBeVisible();
    await expectAccessible(page);
  });
});

test('REQ-133..164 reset a forgotten password by SMS, and sign in with the new one', async ({
  page,
  mkopo,
}) => {
  const NEW = 'Mkopo-demo-2';
  await page.goto('/login');
  await email(page).fill(EMAIL);
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Enter your email' })).toBeVisible();
  await expect(email(page)).toHaveValue(EMAIL);
  await expect(email(page)).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Password reset code sent! Please check your SMS.')).toBeVisible();
  await expect(page.getByText('Sending reset code...')).toBeHidden();
  await expect(code(page)).toBeFocused();
  await expectAccessible(page);
  const sent = await mkopo.outbox.code({ to: PHONE });

  const setPassword = async (digits: string) => {
    await code(page).fill(digits);
    await page.getByLabel('New Password', { exact: true }).fill(NEW);
    await page.getByLabel('Confirm New Password').fill(NEW);
    await button(page, 'Reset Password').click();
  };

  await test.step('two different passwords show an error', async () => {
    await page.getByLabel('New Password', { exact: true }).fill(NEW);
    await page.getByLabel('Confirm New Password').fill('Another-1');
    await expect(page.getByText('Passwords do not match')).toBeVisible();
    await expect(button(page, 'Reset Password')).toBeDisabled();
    await expectAccessible(page);
  });

  await test.step('a wrong code changes nothing', async () => {
    await setPassword(sent === '111111' ? '222222' : '111111');
    await expect(page.getByText('invalid or expired code')).toBeVisible();
    await expect(code(page)).toBeFocused();
  });

  await test.step('the right code sets the password', async () => {
    await setPassword(sent);
    await expect(
      page.getByText('Password reset successful! You can now sign in with your new password.'),
    ).toBeVisible();
    await expect(page).toHaveURL(/\/login$/);
    await expect(password(page)).toBeFocused();
  });

  await test.step('the old password no longer works, and the new one does', async () => {
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await expect(page.getByText('Incorrect password. Please try again.')).toBeVisible();
    await expect(password(page)).toBeFocused();
    await page.keyboard.type(NEW);
    await page.keyboard.press('Enter');
    await expect(dashboard(page)).toBeVisible();
  });
});

// S-63
test('signing out in one tab signs the others out', async ({ page, context, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  const other = await context.newPage();
  await other.goto('/pending-loans');
  await expect(other.getByRole('heading', { level: 1, name: 'Pending Disbursements' })).toBeVisible();
  await page.getByRole('button', { name: /Wanjiru/ }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await expect(other).toHaveURL(/\/login$/);

  await test.step('and signing in in one signs the others in', async () => {
    await mkopo.signIn(page, 'agent');
    await expect(dashboard(other)).toBeVisible();
  });
});

test('REQ-064..068 REQ-080 an expired session leads to sign-in and back', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.goto('/profile');
  await expect(page.getByRole('heading', { level: 1, name: 'My Profile' })).toBeVisible();
  await page.evaluate(() => localStorage.setItem('auth_token', 'not a token'));
  await page.clock.install();
  await page.getByRole('link', { name: 'Transactions' }).click();
  await expect(page.getByText('Your session has expired. Please log in again.')).toBeVisible();
  await page.clock.runFor(1000);
  await expect(page.getByText('Your session expired. Please log in again.')).toBeVisible();
  await expect(page).toHaveURL(/\/login$/);
  await page.clock.resume();
  await email(page).fill(EMAIL);
  await password(page).fill(PASSWORD);
  await button(page, 'Sign in').click();
  await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
});

test('REQ-099 offline, sign-in shows an error and keeps the values', async ({ page, context }) => {
  await page.goto('/login');
  await email(page).fill(EMAIL);
  await password(page).fill(PASSWORD);
  await context.setOffline(true);
  await button(page, 'Sign in').click();
  await expect(page.getByText('An unexpected error occurred. Please try again.')).toBeVisible();
  await expect(email(page)).toHaveValue(EMAIL);
  await expect(password(page)).toHaveValue(PASSWORD);
  await context.setOffline(false);
  await button(page, 'Sign in').click();
  await expect(dashboard(page)).toBeVisible();
});

// S-65
test('REQ-334 REQ-341 the profile is edited on the page only', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.goto('/profile');
  await expect(page.getByRole('heading', { level: 1, name: 'My Profile' })).toBeVisible();
  await expectAccessible(page);
  await button(page, 'Edit Profile').click();
  await expect(page.getByLabel('Full Name')).toBeFocused();
  await expectAccessible(page);
  await page.getByLabel('Full Name').fill('Achieng Otieno');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Full Name')).toBeDisabled();
  await expect(page.getByLabel('Full Name')).toHaveValue('Achieng Otieno');
});
