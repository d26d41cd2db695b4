import { expect, type Page } from '@playwright/test';
import { PASSWORD } from 'mkopo-test';

/** Waits until a change of the window or the theme is drawn: what a script measures or draws follows in the next frame. */
export async function untilDrawn(page: Page) {
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
}

/** Opens the first pending loan whose row has this text, in a wide window. */
export async function openLoan(page: Page, text: string | RegExp = '') {
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  const rows = page.getByRole('row').filter({ hasText: text });
  await rows.getByRole('link', { name: 'View Details' }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'Loan Details' })).toBeVisible();
}

/** Asks to pay out the loan that is open, and confirms it. */
export async function confirmPayout(page: Page) {
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
  await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
}

/** Fills in the sign-in form that is shown, and sends it; `mkopo.signIn` opens the sandbox first. */
export async function signInHere(page: Page, email = 'agent@mkopo.test', button = 'Sign in') {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: button, exact: true }).click();
}
