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

test('REQ-013 REQ-086 REQ-097 REQ-101 REQ-102 sign in by password, with the keyboard alone', async ({
  page,
}) => {
  await page.goto('/transactions?status=failed');
  await expect(email(page)).toBeFocused();
  await expectAccessible(page);

  await test.step('an unknown email address is selected, so that typing replaces it', async () => {
    await page.keyboard.type('nobody@mkopo.test');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Wrong-password');
    await page.keyboard.press('Enter');
    await expect(page.getByText('Email not found. Please check your email address.')).toBeVisible();
    await expect(page.getByText('Email not found.', { exact: true })).toHaveCSS('color', 'rgb(184, 18, 31)');
    await expect(email(page)).toBeFocused();
    await expectAccessible(page);
  });

  await test.step('a deactivated account is told so', async () => {
    await page.keyboard.type('inactive@mkopo.test');
    await password(page).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await expect(page.getByText('Your account is inactive. Please contact support.')).toBeVisible();
    await expect(button(page, 'Sign in')).toBeEnabled();
  });

  await test.step('a wrong password is selected', async () => {
    await email(page).fill(EMAIL);
    await password(page).fill('Wrong-password');
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

  await test.step('a wrong code changes nothing', async () => {
    await setPassword(sent === '111111' ? '222222' : '111111');
    await expect(page.getByText('invalid or expired code')).toBeVisible();
    await expect(code(page)).toBeFocused();
    await expectAccessible(page);
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
