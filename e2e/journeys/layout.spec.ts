import type { Page } from '@playwright/test';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

const NAMES = [
  { first: 'Nyawiraokelloabdullahiwambuimwangikamau', last: 'Otieno' },
  { first: 'Mary Immaculate Wanjiku', last: 'Nyambura Achieng Otieno Kamau Kiplagat' },
  { first: 'Nyawiraokelloabdullahiwambuima', last: 'Mwangikamaukiplagatachiengoti' },
];
const AMOUNT = 999_999_999;

type Row = Record<string, unknown>;

/** Gives customers and staff long names, and loans and payouts amounts of nine digits. */
async function useLongValues(page: Page) {
  for (const list of ['**/api/v1/disbursements/pending', '**/api/v1/disbursement-records*'])
    await page.route(list, async (route) => {
      const response = await route.fetch();
      const rows = (await response.json()) as Row[];
      const json = rows.map((row, index) => {
        const { first = '', last = '' } = NAMES[index % NAMES.length] ?? {};
        return {
          ...row,
          customer_first_name: first,
          customer_last_name: last,
          approver_name: `${first} ${last}`,
          user_first_name: first,
          user_last_name: last,
          ...('amount' in row ? { amount: AMOUNT } : { total_loan_amount: AMOUNT }),
        };
      });
      await route.fulfill({ response, json });
    });
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

for (const [label, viewport, deviceScaleFactor] of [
  ['1280 px', { width: 1280, height: 800 }, 1],
  ['1100 px', { width: 1100, height: 800 }, 1],
  ['768 px', { width: 768, height: 1024 }, 1],
  // A window of 1280 px at a zoom of 200%.
  ['200% zoom', { width: 640, height: 400 }, 2],
  ['375 px', { width: 375, height: 812 }, 1],
  ['320 px', { width: 320, height: 640 }, 1],
] as const)
  test.describe(label, () => {
    test.use({ viewport, deviceScaleFactor });

    test('every screen fits, with long names and amounts', async ({ page, mkopo }) => {
      await mkopo.signIn(page, 'agent');
      await useLongValues(page);

      await test.step('dashboard', async () => {
        await page.goto('/');
        await expect(page.getByRole('table', { name: 'Pending Disbursements' })).toBeVisible();
        await expectTidyLayout(page);
      });
      await test.step('transactions', async () => {
        await page.goto('/transactions?size=10');
        await expect(page.getByText('Showing 1 to 10 of 60 results')).toBeVisible();
        await expectTidyLayout(page);
      });
      for (const [address, name] of [
        ['/reports', 'Reports'],
        ['/settings', 'Settings'],
        ['/profile', 'My Profile'],
      ] as const)
        await test.step(name, async () => {
          await page.goto(address);
          await expect(heading(page, name)).toBeVisible();
          await expectTidyLayout(page);
        });
      for (const [index, { last }] of NAMES.entries())
        await test.step(`the loan of ${last}`, async () => {
          await page.goto('/pending-loans');
          await expect(page.getByText('Showing 24 of 24 results')).toBeVisible();
          if (index === 0) await expectTidyLayout(page);
          await page.getByRole('link', { name: 'View Details' }).nth(index).click();
          await expect(heading(page, 'Loan Details')).toBeVisible();
          await expectTidyLayout(page);
          await page.getByRole('button', { name: 'Disburse Loan' }).click();
          await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
          await expectTidyLayout(page);
          if (index > 0) return;
          // The server rejects the amount, because it is not the loan's.
          await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
          await expect(page.getByRole('button', { name: 'Try Again' })).toBeFocused();
          await expectTidyLayout(page);
        });
    });
  });

test.describe('in the dark theme', () => {
  test.use({ colorScheme: 'dark' });

  test('what is printed is light on every screen', async ({ page, mkopo }) => {
    await mkopo.signIn(page, 'agent');
    for (const [address, name] of [
      ['/', 'Dashboard'],
      ['/pending-loans', 'Pending Disbursements'],
      ['/transactions', 'Transaction History'],
      ['/reports', 'Reports'],
    ] as const) {
      await page.goto(address);
      await expect(heading(page, name)).toBeVisible();
      await page.emulateMedia({ media: 'print' });
      await expect(page.locator('body')).toHaveCSS('color', 'rgb(21, 26, 33)');
      await expect(page.locator('html')).toHaveCSS('background-color', 'rgb(255, 255, 255)');
      await page.emulateMedia({ media: null });
    }
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });

  test('no field is so small that the phone zooms in, and fingers meet what they aim at', async ({
    page,
    mkopo,
  }) => {
    const fields = page.locator('input:not([type=checkbox])');
    await page.goto('/login');
    await expect(heading(page, 'Sign in')).toBeVisible();
    for (const field of await fields.all()) await expect(field).toHaveCSS('font-size', '16px');
    await mkopo.signIn(page, 'agent');
    await page.goto('/pending-loans');
    const link = page.getByRole('link', { name: 'View Details' }).first();
    await expect(link).toBeVisible();
    for (const field of await fields.all()) await expect(field).toHaveCSS('font-size', '16px');
    for (const target of [link, page.getByRole('button', { name: 'Customer' })])
      expect((await target.boundingBox())?.height).toBeGreaterThanOrEqual(40);
  });
});
