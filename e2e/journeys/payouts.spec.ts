import type { Page } from '@playwright/test';
import { expectAccessible, isStill } from '../accessibility';
import { expect, test } from '../test';

const DISBURSE = '**/api/v1/disbursements/*/disburse';
const RECORDS = '**/api/v1/disbursement-records*';

/** Opens the first pending loan whose row has this text. */
async function openLoan(page: Page, text: string | RegExp) {
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  const row = page.getByRole('row').filter({ hasText: text }).first();
  await row.getByRole('link', { name: 'View Details' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Loan Details' })).toBeVisible();
}

async function confirm(page: Page) {
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
  await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
}

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const card = (page: Page, name: string) => page.getByRole('region', { name });

/** Passes requests on to the server, and holds the response until it is released. */
async function holdResponses(page: Page) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(DISBURSE, async (route) => {
    const response = await route.fetch();
    await released;
    await route.fulfill({ response }).catch(() => undefined); // The page may have given up.
  });
  return { release };
}

test('REQ-262..269 a rejected payout shows the reason; Try Again is another attempt, and the loan stays pending', async ({
  page,
  mkopo,
}) => {
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/disburse'))
      keys.push(request.headers()['idempotency-key']);
  });
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 300,000');

  await test.step('mobile money rejects the amount', async () => {
    await confirm(page);
    await expect(dialog(page, 'Disbursement Failed').getByRole('alert')).toContainText(/maximum/i);
    await expect(page.getByRole('button', { name: 'Try Again' })).toBeFocused();
    await expectAccessible(page);
  });
  await test.step('the second attempt is rejected too', async () => {
    await page.getByRole('button', { name: 'Try Again' }).click();
    await expect.poll(() => keys.length).toBe(2);
    await expect(dialog(page, 'Disbursement Failed').getByRole('alert')).toContainText(/maximum/i);
    expect(keys[0]).not.toBe(keys[1]);
  });
  await test.step('the loan is still pending', async () => {
    await page.getByRole('button', { name: 'Close' }).click();
    await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeFocused();
    await expect(page.getByText('Approved, Pending Disbursement')).toBeVisible();
  });
  await test.step('both attempts are in the history', async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(
      page.getByRole('row').filter({ hasText: 'KES 300,000' }).filter({ hasText: 'Failed' }),
    ).not.toHaveCount(0);
  });
});

test('REQ-229 REQ-241 REQ-267 after a payout the page, a reload and Back show the loan as disbursed', async ({
  page,
  mkopo,
}) => {
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 75,000');
  await confirm(page);
  await expect(dialog(page, 'Disbursement Successful')).toBeHidden();
  await expect(page.locator('[data-notice]')).toBeFocused();
  await expect(card(page, 'Disbursement Information')).toContainText(/[A-Z]{2}[1-9A-V][A-Z0-9]{7}/);
  await page.reload();
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(page, 'Disbursement Information')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await expect(page.getByText('23 loan(s) pending disbursement')).toBeVisible();
});

test('an accepted payout is called submitted, and the page shows the success once it is confirmed', async ({
  page,
  mkopo,
}) => {
  // As long as the page is looked at.
  await mkopo.mobileMoney.change({ latency_ms: 60_000 });
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  await confirm(page);
  const submitted = dialog(page, 'Disbursement Submitted');
  await expect(submitted).toContainText('Transaction ID: Pending...', { timeout: 15_000 });
  await expect(submitted).toContainText(
    'The mobile-money service has not confirmed the payout yet. ' +
      'The result shows on this page as soon as it is known.',
  );
  await expect(page.getByText(/success/i)).toHaveCount(0);
  await expectAccessible(page);
  await expect(submitted).toBeHidden();
  await expect(page.getByText('Disbursement in Progress')).toBeVisible();
  await expect(page.getByText('Approved, Pending Disbursement')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();

  await mkopo.clock.advance('2m');
  await expect(page.getByText('Disbursement Successful')).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(page, 'Disbursement Information')).toContainText(/[A-Z]{2}[1-9A-V][A-Z0-9]{7}/);
  await expectAccessible(page);
});

test('an accepted payout that was never paid ends as failed, also after a reload', async ({
  page,
  mkopo,
}) => {
  test.slow(); // Mobile money takes 12 seconds.
  await mkopo.mobileMoney.next('lost_unpaid');
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  await confirm(page);
  await expect(dialog(page, 'Disbursement Submitted')).toBeVisible({ timeout: 15_000 });
  await expect(dialog(page, 'Disbursement Submitted')).toBeHidden();
  await page.reload();
  await expect(page.getByText('Disbursement in Progress')).toBeVisible();
  // The server waits some minutes before it gives up on a lost request.
  await mkopo.clock.advance('3m');
  await expect(page.getByRole('alert').filter({ hasText: 'Disbursement Failed' })).toBeVisible({
    timeout: 30_000,
  });
  await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
});

test('Tab and Shift+Tab never leave the open dialog', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 300,000');
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
  await expectFocusLoop(page, ['Cancel', 'Confirm Disbursement']);
  await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
  await expect(dialog(page, 'Disbursement Failed')).toBeVisible();
  await expectFocusLoop(page, ['Try Again', 'Close']);
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

/** Presses Tab and Shift+Tab twice around; the first button has focus at the start. */
async function expectFocusLoop(page: Page, [first, second]: [string, string]) {
  const button = (name: string) => page.getByRole('dialog').getByRole('button', { name });
  await expect(button(first)).toBeFocused();
  for (const key of ['Tab', 'Shift+Tab'])
    for (const next of [second, first, second, first]) {
      await page.keyboard.press(key);
      await expect(button(next)).toBeFocused();
    }
}

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

  await confirm(page);
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
  const text = (await card(page, 'Disbursement Information').textContent()) ?? '';
  const reference = /[A-Z]{2}[1-9A-V][A-Z0-9]{7}/.exec(text)?.[0];
  expect(reference).toBeDefined();

  await confirm(second);
  await expect(dialog(second, 'Disbursement Failed')).toContainText('This loan has already been disbursed.');
  await second.getByRole('button', { name: 'Close' }).click();
  await expect(second.getByText('Disbursed', { exact: true })).toBeVisible();
  await expect(card(second, 'Disbursement Information')).toContainText(reference ?? '');
  await expect(second.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();
  await expect(second.getByRole('heading', { level: 1 })).toBeFocused();
});

test('a timeout after which the money was sent ends as a success', async ({ page, mkopo }) => {
  test.slow(); // The call's 10 seconds are the browser's own.
  await holdResponses(page);
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  await confirm(page);
  await expect(dialog(page, 'Processing Disbursement')).toBeVisible();
  await expect(dialog(page, 'Disbursement Successful')).toContainText(/Transaction ID: [A-Z]{2}/, {
    timeout: 20_000,
  });
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
});

test('when the response and the records are lost, it is a failure until the records can be read', async ({
  page,
  mkopo,
}) => {
  await page.route(DISBURSE, async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  await page.route(RECORDS, (route) => route.abort('connectionreset'));
  await confirm(page);
  await expect(dialog(page, 'Disbursement Failed')).toContainText('Failed to disburse loan');
  await page.unroute(RECORDS);
  await expect(dialog(page, 'Disbursement Successful')).toContainText(/Transaction ID: [A-Z]{2}/);
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
});

test('REQ-246 a page opened again during the payout shows that it is processing', async ({ page, mkopo }) => {
  const responses = await holdResponses(page);
  await mkopo.signIn(page, 'agent');
  await openLoan(page, 'KES 25,000');
  await confirm(page);
  await expect(dialog(page, 'Processing Disbursement')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'Pending Disbursements' })).toBeVisible();
  await page.goForward();
  await expect(page.getByText('Processing disbursement...')).toBeVisible();
  await expectAccessible(page);
  responses.release();
  await expect(page.getByText('Disbursement Successful')).toBeVisible();
  await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
});
