import type { Page } from '@playwright/test';
import { expectAccessible, isStill } from '../accessibility';
import { confirmPayout, openLoan } from '../acts';
import { expect, test } from '../test';

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const card = (page: Page, name: string) => page.getByRole('region', { name });

test('an accepted payout is called submitted, and the page shows the success once it is confirmed', async ({
  page,
  mkopo,
}) => {
  // As long as the page is looked at.
  await mkopo.mobileMoney.change({ latency_ms: 60_000 });
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  await confirmPayout(page);
  const submitted = dialog(page, 'Disbursement Submitted');
  await expect(submitted).toContainText('Transaction ID: Pending...', { timeout: 15_000 });
  await expect(submitted).toContainText(
    'The mobile-money service has not confirmed the payout yet. ' +
      'The result shows on this page as soon as it is known.',
  );
  await expect(page.getByText(/success/i)).toHaveCount(0);
  // By itself, soon.
  await expect(submitted).toBeHidden();
  await expect(page.getByText('Disbursement in Progress')).toBeVisible();
  await expectAccessible(page);
  await expect(page.getByText('Approved, Pending Disbursement')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();

  await mkopo.clock.advance('2m');
  await expect(page.getByText('Disbursement Successful')).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(page, 'Disbursement Information')).toContainText(/[A-Z]{2}[1-9A-V][A-Z0-9]{7}/);
  await expectAccessible(page);
});

test('the dialog fades in where it stays, so that no click is lost', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 300,000');
  const places = await page.evaluateHandle(() => {
    const places = new Set<string>();
    const look = () => {
      const buttons = document.querySelectorAll('[role=dialog] button');
      if (buttons.length > 0)
        places.add(JSON.stringify(Array.from(buttons, (button) => button.getBoundingClientRect())));
      requestAnimationFrame(look);
    };
    look();
    return places;
  });
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
  await expect(dialog(page, 'Confirm Loan Disbursement')).toBeVisible();
  await page.waitForFunction(isStill);
  expect(await places.evaluate((places) => [...places])).toHaveLength(1);
});

test('two tabs pay the same loan once, and the second one shows it as disbursed', async ({
  page,
  context,
  mkopo,
}) => {
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  const second = await context.newPage();
  await second.goto('/');
  await openLoan(second, 'KES 25,000');

  await confirmPayout(page);
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  const text = (await card(page, 'Disbursement Information').textContent()) ?? '';
  const reference = /[A-Z]{2}[1-9A-V][A-Z0-9]{7}/.exec(text)?.[0];
  expect(reference).toBeDefined();

  await confirmPayout(second);
  await expect(dialog(second, 'Disbursement Failed')).toContainText('This loan has already been disbursed.');
  await second.getByRole('button', { name: 'Close' }).click();
  await expect(second.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(second, 'Disbursement Information')).toContainText(reference ?? '');
  await expect(second.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();
  await expect(second.getByRole('heading', { level: 1 })).toBeFocused();
});

test('a lost answer: the page says that the loan is paid, and has asked once', async ({ page, mkopo }) => {
  await mkopo.faults.add({ path: '/api/v1/disbursements/*/disburse', kind: 'drop', times: 1 });
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  const lost = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/disburse'));
  // The dialog closes by itself, so it is waited for before the click.
  await Promise.all([
    expect(dialog(page, 'Disbursement Successful')).toContainText(/Transaction ID: [A-Z]{2}/),
    confirmPayout(page),
  ]);
  expect((await lost).failure()?.errorText, 'what the page is told').toMatch(/^net::ERR_/);
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  // A browser that repeats a call by itself tells the page nothing of it.
  const calls = await mkopo.traffic.calls({ method: 'POST', path: '/disburse' });
  expect(calls.map(({ status }) => status)).toEqual([null]);
});
