import type { Page } from '@playwright/test';
import { PASSWORD } from 'mkopo-test';
import { expectAccessible } from '../accessibility';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

const EMAIL = 'agent@mkopo.test';

/** Holds back the shell's scripts; returns a function that lets them through. */
async function holdScripts(page: Page) {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/assets/*.js', async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

/** Collects what moves on the page without the user, by its size. */
const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        shifts.push((entry as PerformanceEntry & { value: number }).value);
    }).observe({ type: 'layout-shift', buffered: true });
  });

const shifts = (page: Page) => page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
/** Where and in what colours everything is. */
const look = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(':is(header, main, footer), :is(header, main, footer) *')]
      .filter((element) => element.checkVisibility())
      .map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const { color, backgroundColor, borderColor, font } = getComputedStyle(element);
        return [element.tagName, x, y, width, height, color, backgroundColor, borderColor, font].join(' ');
      }),
  );
const html = (page: Page) => page.locator('#prerendered');
const email = (page: Page) => page.getByLabel('Email');
const password = (page: Page) => page.getByLabel('Password', { exact: true });

for (const [label, width, colorScheme] of [
  ['on a phone, dark', 375, 'dark'],
  ['on a desk', 1280, 'light'],
] as const)
  test.describe(label, () => {
    test.use({ viewport: { width, height: 800 }, colorScheme });

    test('sign-in is there before the scripts, and what is typed and clicked is kept', async ({ page }) => {
      await watchShifts(page);
      const release = await holdScripts(page);
      await page.goto('/transactions', { waitUntil: 'commit' });
      await expect(html(page).getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible();
      await expect(page).toHaveTitle('Sign in · Mkopo');
      await expect(email(page)).toBeFocused();
      await expectAccessible(page);
      await expectTidyLayout(page);
      const before = await look(page);

      await page.keyboard.type(EMAIL);
      await page.keyboard.press('Tab');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('ArrowLeft');
      release();
      await expect(html(page)).toHaveCount(0);
      await expect(email(page)).toHaveValue(EMAIL);
      await expect(password(page)).toBeFocused();
      await expect(password(page)).toHaveJSProperty('selectionStart', PASSWORD.length - 1);
      expect(await shifts(page)).toEqual([]);

      await test.step('and React draws the same', async () => {
        await password(page).fill('');
        await email(page).fill('');
        await expect(page.getByRole('button', { name: 'Sign in with OTP' })).toBeDisabled();
        await expect.poll(() => look(page)).toEqual(before);
      });

      await test.step('and what is typed from then on is added', async () => {
        await email(page).fill(EMAIL);
        await password(page).fill(PASSWORD);
        await page.keyboard.press('Enter');
        await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
      });
    });
  });

test('the form can be sent before the scripts are there, and the address has nothing of it', async ({
  page,
}) => {
  const release = await holdScripts(page);
  await page.goto('/login', { waitUntil: 'commit' });
  await email(page).fill(EMAIL);
  await password(page).fill(PASSWORD);
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).search).toBe('');
  release();
  await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
});

test('a link that is clicked before the scripts are there takes along what was typed', async ({ page }) => {
  const release = await holdScripts(page);
  await page.goto('/login', { waitUntil: 'commit' });
  await email(page).fill(EMAIL);
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  release();
  await expect(page.getByRole('heading', { level: 1, name: 'Enter your email' })).toBeVisible();
  await expect(email(page)).toHaveValue(EMAIL);
});

test('a signed-in user sees no form on the way to the dashboard', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector('#prerendered, form')) document.documentElement.dataset['form'] = 'seen';
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto('/login');
  await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
  await expect(page.locator('html')).not.toHaveAttribute('data-form');
});

test('if the shell can’t be loaded, the page does not offer a form', async ({ page }) => {
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.goto('/login');
  await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible();
  await expect(html(page)).toHaveCount(0);
});

test('the second public screen is there before the scripts too', async ({ page }) => {
  const release = await holdScripts(page);
  await page.goto('/password-reset', { waitUntil: 'commit' });
  await expect(html(page).getByRole('heading', { level: 1, name: 'Enter your email' })).toBeVisible();
  await page.keyboard.type(EMAIL);
  release();
  await expect(html(page)).toHaveCount(0);
  await expect(email(page)).toHaveValue(EMAIL);
  await expect(page.getByRole('button', { name: 'Send Reset Code' })).toBeEnabled();
});
