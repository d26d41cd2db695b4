import type { Page } from '@playwright/test';
import { expect, expectAccessible, signIn, test } from '../portal';

const DISBURSE = '**/api/v1/disbursements/*/disburse';
const RECORDS = '**/api/v1/disbursement-records*';

/** Opens the first waiting loan whose row has these words. */
async function openLoan(page: Page, words: string | RegExp) {
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  const row = page.getByRole('row').filter({ hasText: words }).first();
  await row.getByRole('link', { name: 'View Details' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Loan Details' })).toBeVisible();
}

async function confirm(page: Page) {
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
  await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
}

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const card = (page: Page, name: string) => page.getByRole('region', { name });

/** Lets the server do its work, and keeps its answer until it is let go. */
async function holdAnswers(page: Page) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(DISBURSE, async (route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response }).catch(() => undefined); // The page may have given up.
  });
  return { release };
}

test('REQ-262..269 a refused payout says why; Try Again is another attempt, and the loan still waits', async ({
  page,
}) => {
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/disburse'))
      keys.push(request.headers()['idempotency-key']);
  });
  await signIn(page);
  await openLoan(page, 'KES 300,000');

  await test.step('mobile money refuses so much at once', async () => {
    await confirm(page);
    await expect(dialog(page, 'Disbursement Failed').getByRole('alert')).toContainText(/maximum/i);
    await expect(page.getByRole('button', { name: 'Try Again' })).toBeFocused();
    await expectAccessible(page);
  });
  await test.step('so it does again', async () => {
    await page.getByRole('button', { name: 'Try Again' }).click();
    await expect.poll(() => keys.length).toBe(2);
    await expect(dialog(page, 'Disbursement Failed').getByRole('alert')).toContainText(/maximum/i);
    expect(keys[0]).not.toBe(keys[1]);
  });
  await test.step('the loan still waits', async () => {
    await page.getByRole('button', { name: 'Close' }).click();
    await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeFocused();
    await expect(page.getByText('Approved, Pending Disbursement')).toBeVisible();
  });
  await test.step('both attempts stand in history', async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(
      page.getByRole('row').filter({ hasText: 'KES 300,000' }).filter({ hasText: 'Failed' }),
    ).not.toHaveCount(0);
  });
});

test('REQ-229 REQ-241 REQ-267 after a payout the page, a reload and Back show the loan paid', async ({
  page,
}) => {
  await signIn(page);
  await openLoan(page, 'KES 75,000');
  await confirm(page);
  await expect(dialog(page, 'Disbursement Successful')).toBeHidden();
  await expect(page.locator('[data-news]')).toBeFocused();
  await expect(card(page, 'Disbursement Information')).toContainText(/[A-Z]{2}[1-9A-V][A-Z0-9]{7}/);
  await page.reload();
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(page, 'Disbursement Information')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await expect(page.getByText('23 loan(s) pending disbursement')).toBeVisible();
});

test('REQ-261 an accepted payout is waited for, and shows its result when mobile money has confirmed it', async ({
  page,
}) => {
  test.slow(); // Mobile money takes its 12 seconds.
  await signIn(page);
  await openLoan(page, '0700009003');
  await confirm(page);
  await expect(dialog(page, 'Disbursement Successful')).toContainText('Transaction ID: Pending...', {
    timeout: 15_000,
  });
  await expect(dialog(page, 'Disbursement Successful')).toBeHidden();
  await expect(page.getByText('Disbursement in Progress')).toBeVisible();
  await expect(page.getByText('Approved, Pending Disbursement')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();

  await expect(page.getByText('Disbursement Successful')).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(page, 'Disbursement Information')).toContainText(/[A-Z]{2}[1-9A-V][A-Z0-9]{7}/);
  await expectAccessible(page);
});

test('two tabs that pay the same loan pay it once, and the second shows it paid', async ({
  page,
  context,
}) => {
  await signIn(page);
  await openLoan(page, 'KES 25,000');
  const second = await context.newPage();
  await second.goto('/');
  await openLoan(second, 'KES 25,000');

  await confirm(page);
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  const text = (await card(page, 'Disbursement Information').textContent()) ?? '';
  const reference = /[A-Z]{2}[1-9A-V][A-Z0-9]{7}/.exec(text)?.[0];
  expect(reference).toBeDefined();

  await confirm(second);
  await expect(dialog(second, 'Disbursement Failed')).toContainText('This loan has been disbursed already.');
  await second.getByRole('button', { name: 'Close' }).click();
  await expect(second.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(second, 'Disbursement Information')).toContainText(reference ?? '');
  await expect(second.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();
  await expect(second.getByRole('heading', { level: 1 })).toBeFocused();
});

test('a time-out after which the money did move ends with the truth', async ({ page }) => {
  test.slow(); // The call's 10 seconds are the browser's own.
  await holdAnswers(page);
  await signIn(page);
  await openLoan(page, 'KES 25,000');
  await confirm(page);
  await expect(dialog(page, 'Processing Disbursement')).toBeVisible();
  await expect(dialog(page, 'Disbursement Successful')).toContainText(/Transaction ID: [A-Z]{2}/, {
    timeout: 20_000,
  });
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
});

test('a lost answer, with the records lost too, is told as a failure until the truth can be had', async ({
  page,
}) => {
  await page.route(DISBURSE, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await signIn(page);
  await openLoan(page, 'KES 25,000');
  await page.route(RECORDS, (route) => route.abort('connectionreset'));
  await confirm(page);
  await expect(dialog(page, 'Disbursement Failed')).toContainText('Failed to disburse loan');
  await page.unroute(RECORDS);
  await expect(dialog(page, 'Disbursement Successful')).toContainText(/Transaction ID: [A-Z]{2}/);
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
});

test('REQ-246 leaving and entering again while the payout runs shows that it does', async ({ page }) => {
  const answers = await holdAnswers(page);
  await signIn(page);
  await openLoan(page, 'KES 25,000');
  await confirm(page);
  await expect(dialog(page, 'Processing Disbursement')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Pending Disbursements' })).toBeVisible();
  await page.goForward();
  await expect(page.getByText('Processing disbursement...')).toBeVisible();
  await expectAccessible(page);
  answers.release();
  await expect(page.getByText('Disbursement Successful')).toBeVisible();
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
});
