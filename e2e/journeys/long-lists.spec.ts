import type { Page } from '@playwright/test';
import { expect, test } from '../test';

const LENGTH = 10_000;

/** The first row that the head of the table does not cover. */
const firstSeen = (page: Page) =>
  page.evaluate(() => {
    const rows = [...document.querySelectorAll('tbody tr[aria-rowindex]')];
    const top = document.querySelector('thead th')!.getBoundingClientRect().bottom;
    const seen = rows.find((row) => row.getBoundingClientRect().top >= top);
    return Number(seen?.getAttribute('aria-rowindex'));
  });

test(`a list of ${LENGTH} loans keeps its head in view, and Back returns to the same place`, async ({
  page,
  mkopo,
}) => {
  await page.route('**/api/v1/disbursements/pending', async (route) => {
    const response = await route.fetch();
    const rows = (await response.json()) as object[];
    const json = Array.from({ length: LENGTH }, (_, index) => ({
      ...rows[index % rows.length],
      loan_id: `LN-${index}`,
    }));
    await route.fulfill({ response, json });
  });
  await mkopo.signIn(page, 'agent');
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(page.getByText(`Showing ${LENGTH} of ${LENGTH} results`)).toBeAttached();
  await page.evaluate((y) => window.scrollTo(0, y), LENGTH * 40);
  await expect.poll(() => firstSeen(page)).toBeGreaterThan(LENGTH / 4);
  await expect(page.getByRole('button', { name: 'Loan Amount' })).toBeInViewport();
  expect(await page.getByRole('row').count(), 'rows drawn').toBeLessThan(400);
  const before = await firstSeen(page);

  await page
    .locator(`tr[aria-rowindex="${before + 2}"] td`)
    .nth(2)
    .click();
  await expect(page.getByRole('heading', { level: 1, name: 'Loan Details' })).toBeVisible();
  await page.goBack();
  await expect(page.getByText(`Showing ${LENGTH} of ${LENGTH} results`)).toBeAttached();
  await expect.poll(async () => Math.abs((await firstSeen(page)) - before)).toBeLessThanOrEqual(1);
});
