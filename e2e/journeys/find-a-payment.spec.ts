import type { Page } from '@playwright/test';
import type { Mkopo } from 'mkopo-test';
import { expectAccessible, inEachLook } from '../accessibility';
import { expect, test } from '../test';

/** Pays out a pending loan as the supervisor. */
async function payOut(mkopo: Mkopo) {
  const supervisor = await mkopo.sessions.open('supervisor');
  const pending = await supervisor.pendingLoans();
  const loan = pending.find(({ total_loan_amount: amount }) => amount === 25_000)!;
  const { mpesa_ref, ...paid } = await supervisor.payOut(loan);
  return { ...paid, mpesa_ref: mpesa_ref! };
}

const rows = (page: Page) => page.getByRole('table', { name: 'Transactions' }).getByRole('row');
const rowOf = (page: Page, { mpesa_ref: reference }: { mpesa_ref: string }) =>
  page.getByRole('row', { name: new RegExp(reference) });

test('REQ-275 REQ-288 REQ-298 a payout is found by reference and performer', async ({ page, mkopo }) => {
  const paid = await test.step('a supervisor pays a loan out', () => payOut(mkopo));
  await mkopo.signIn(page, 'agent');

  await test.step('it is first in the history', async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(page.getByText('61 transaction(s) found')).toBeVisible();
    const first = rows(page).nth(1);
    await expect(first).toContainText(`${paid.customer_first_name} ${paid.customer_last_name}`);
    await expect(first).toContainText('KES 25,000');
    await expect(first).toContainText('Successful');
    await expect(first).toContainText(paid.mpesa_ref);
    await expect(first).toContainText(`${paid.user_first_name} ${paid.user_last_name}`);
    await expectAccessible(page);
  });

  const search = page.getByPlaceholder('Search transactions...');
  await test.step('search by reference', async () => {
    const text = paid.mpesa_ref.toLowerCase();
    await search.fill(text);
    await expect(page.getByText('1 transaction(s) found', { exact: true })).toBeVisible();
    await expect(rowOf(page, paid)).toBeVisible();
    await expect(page).toHaveURL(`/transactions?search=${text}`);
  });

  await test.step('search by the performer’s name, key by key', async () => {
    await search.fill('');
    await search.pressSequentially(`${paid.user_first_name} ${paid.user_last_name}`.toUpperCase());
    await expect(search).toHaveValue(`${paid.user_first_name} ${paid.user_last_name}`.toUpperCase());
    await expect(page.getByText('61 transaction(s) found')).toBeHidden();
    await expect(rowOf(page, paid)).toBeVisible();
    for (const row of (await rows(page).all()).slice(1))
      await expect(row.getByRole('cell').last()).toHaveText(`${paid.user_first_name} ${paid.user_last_name}`);
  });

  await test.step('a reload keeps the search, and the customer’s phone finds nothing', async () => {
    await page.reload();
    await expect(search).not.toHaveValue('');
    await expect(rowOf(page, paid)).toBeVisible();
    await search.fill(paid.customer_phone_number.slice(-9));
    await expect(page.getByText('No transactions found')).toBeVisible();
    await expect(page.getByText('Try adjusting your search or filters')).toBeVisible();
    await expectAccessible(page);
  });
});

test('REQ-291 REQ-293 REQ-302 REQ-306 REQ-308 the pages of the history, with pointer and keyboard', async ({
  page,
  mkopo,
}) => {
  await mkopo.signIn(page, 'agent');
  await page.goto('/transactions');
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await expect(pages).toHaveText(/^12345…9$/);

  await test.step('a page turn scrolls to the top', async () => {
    await page.setViewportSize({ width: 1280, height: 480 });
    await pages.getByRole('button', { name: 'Page 5' }).click();
    await expect(page.getByText('Showing 29 to 35 of 60 results')).toBeVisible();
    await expect(pages).toHaveText(/^1…456…9$/);
    await expect.poll(() => page.evaluate(() => window.scrollY)).toBe(0);
    await expect(page).toHaveURL('/transactions?page=5');
  });

  await test.step('the keyboard opens the last page and keeps focus there', async () => {
    await pages.getByRole('button', { name: 'Last page' }).press('Enter');
    await expect(page.getByText('Showing 57 to 60 of 60 results')).toBeVisible();
    await expect(pages.getByRole('button', { name: 'Last page' })).toBeDisabled();
    await expect(pages.getByRole('button', { name: 'Page 9' })).toBeFocused();
    await expectAccessible(page);
  });

  await test.step('a status returns to page 1', async () => {
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Failed' }).click();
    await expect(page.getByText(/^Showing 1 to/)).toBeVisible();
    await expect(page).toHaveURL('/transactions?status=failed');
  });

  await test.step('the reason of a failure is shown on focus, and Escape hides it', async () => {
    const failed = rows(page).nth(1).getByRole('button', { name: 'Failed' });
    await failed.focus();
    const reason = page.getByRole('tooltip');
    await expect(reason).toBeVisible();
    await expect(failed).toHaveAccessibleDescription((await reason.textContent()) ?? '');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(reason).toBeHidden();
    await expect(failed).toBeFocused();
    // The pointer may already be there, after choosing the status.
    await page.mouse.move(0, 0);
    await failed.hover();
    await reason.hover();
    await expect(reason).toBeVisible();
    await page.mouse.move(0, 0);
  });

  await test.step('Back keeps the list', async () => {
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Pending Disbursements' })).toBeVisible();
    await page.goBack();
    await expect(page).toHaveURL('/transactions?status=failed');
    await expect(page.getByText(/^Showing 1 to/)).toBeVisible();
  });
});

test('history and reports are accessible and never scroll sideways', async ({ page, mkopo }) => {
  test.slow();
  await mkopo.signIn(page, 'agent');
  for (const [address, text] of [
    ['/transactions', 'Showing 1 to 7 of 60 results'],
    ['/transactions?search=no-match', 'No transactions found'],
    ['/reports', 'Chart visualization will be implemented here'],
  ] as const)
    await test.step(address, async () => {
      await page.goto(address);
      await inEachLook(page, async () => {
        await expect(page.getByText(text)).toBeVisible();
        await expectAccessible(page);
        const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect(isWider).toBe(false);
      });
    });
});

test('at 1280 px no name, date, amount, status or reference wraps', async ({ page, mkopo }) => {
  await page.setViewportSize({ width: 1280, height: 860 });
  await mkopo.signIn(page, 'agent');
  await page.goto('/transactions?size=100');
  await expect(page.getByText('Showing 1 to 60 of 60 results')).toBeVisible();
  const heights = await rows(page)
    .locator('td:not(:first-child)')
    .evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return Math.round(range.getBoundingClientRect().height);
      }),
    );
  expect(Math.max(...heights)).toBeLessThan(40);
  const names = await rows(page)
    .locator('td:first-child strong')
    .evaluateAll((all) => all.map((name) => name.clientHeight));
  expect(Math.max(...names)).toBeLessThanOrEqual(20);
});
