import type { Page } from '@playwright/test';
import type { Mkopo } from 'mkopo-test';
import { join } from 'node:path';
import { expect, test } from '../test';

const FOLDER = join(import.meta.dirname, '../../dist/pictures');
const WIDTHS = [320, 375, 768, 1280, 1920];

/** What is emulated, by the name that the pictures bear. */
const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  contrast: { forcedColors: 'active' },
  /** Printed from the dark theme. */
  print: { colorScheme: 'dark' },
} as const;

const heading = (page: Page, name: string) =>
  expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

async function openLoan(page: Page) {
  await page.goto('/pending-loans');
  await page
    .getByRole('link', { name: /View Details/ })
    .first()
    .click();
  await heading(page, 'Loan Details');
}

async function askToPay(page: Page) {
  await openLoan(page);
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
}

/** Screens and states of them, in the order in which they are visited. */
const PICTURES: [name: string, act: (page: Page, mkopo: Mkopo) => Promise<unknown>][] = [
  ['dashboard', (page) => heading(page, 'Dashboard')],
  ['pending loans', (page) => page.goto('/pending-loans').then(() => heading(page, 'Pending Disbursements'))],
  [
    'pending loans, filters',
    async (page) => {
      await page.getByRole('button', { name: /Filter/ }).click();
      await expect(page.getByLabel('Amount to')).toBeVisible();
    },
  ],
  ['loan', openLoan],
  ['payout', askToPay],
  [
    'payout refused',
    async (page, mkopo) => {
      await mkopo.mobileMoney.next('insufficient_funds');
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /Confirm|Disburse/ })
        .click();
      await expect(page.getByRole('dialog').getByRole('button', { name: 'Try Again' })).toBeVisible();
    },
  ],
  ['transactions', (page) => page.goto('/transactions').then(() => heading(page, 'Transaction History'))],
  [
    'transactions, filters',
    async (page) => {
      await page.getByRole('button', { name: /Filter/ }).click();
      await expect(page.getByLabel('Amount to')).toBeVisible();
    },
  ],
  [
    'reports',
    async (page) => {
      await page.goto('/reports');
      await expect(page.getByRole('button', { name: /Export/ }).first()).toBeVisible();
    },
  ],
  [
    'settings, not saved',
    async (page) => {
      await page.goto('/settings');
      await page.getByRole('switch').first().click();
      await expect(page.getByText('There are changes that are not saved.')).toBeVisible();
    },
  ],
  ['profile', (page) => page.goto('/profile').then(() => heading(page, 'My Profile'))],
  [
    'notifications',
    async (page) => {
      await page.goto('/');
      await page.getByRole('button', { name: /^Notifications/ }).click();
      await expect(
        page.getByRole('region', { name: 'Notifications' }).getByRole('link').first(),
      ).toBeVisible();
    },
  ],
  [
    'not found',
    (page) => page.goto('/nowhere').then(() => expect(page.getByRole('heading').first()).toBeVisible()),
  ],
  [
    'offline',
    async (page) => {
      await page.goto('/transactions');
      await heading(page, 'Transaction History');
      await page.context().setOffline(true);
      await expect(page.getByText(/offline/i).first()).toBeVisible();
    },
  ],
];

test.use({ settings: { MKOPO_SCREENS: 'live' }, expectedError: /./ });

for (const [look, media] of Object.entries(LOOKS))
  for (const width of WIDTHS)
    test(`${look}, ${width} px`, async ({ page, mkopo }) => {
      await page.emulateMedia({ reducedMotion: 'reduce', ...media });
      await page.setViewportSize({ width, height: 900 });
      const take = async (name: string) => {
        if (look === 'print') {
          await page.emulateMedia({ media: 'print' });
          await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
        }
        const path = join(FOLDER, look, `${name}, ${width}.png`);
        await page.screenshot({ path, fullPage: !name.includes('payout') });
        await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
        await page.emulateMedia({ media: 'screen' });
      };
      await page.goto('/login');
      await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible();
      await take('sign-in');
      await mkopo.signIn(page, 'admin');
      for (const [name, act] of PICTURES)
        await test.step(name, async () => {
          await act(page, mkopo);
          await expect(page.getByRole('status', { name: /Loading/ })).toHaveCount(0);
          await take(name);
        });
    });
