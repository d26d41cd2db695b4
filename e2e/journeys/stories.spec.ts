import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Mkopo } from 'mkopo-test';
import { startPortal } from 'mkopo-test/client';
import { expectAccessible, inEachLook } from '../accessibility';
import { confirmPayout, signInHere } from '../acts';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

// Only the operator of a portal makes links.
test.use({ settings: {} });

/** The address of a link to a story. */
async function linkTo(mkopo: Mkopo, story: string, roles: ('agent' | 'supervisor')[] = ['agent']) {
  const body = { story, roles, worlds: 5 };
  const { data } = await mkopo.console.POST('/console/api/story-links', { body });
  if (!data) throw new Error('No link was made');
  return data.url;
}

async function open(page: Page, address: string) {
  await page.goto(address);
  await page.getByRole('button', { name: 'Open the sandbox' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
}

/** Pays a loan of the story out. */
async function payOut(page: Page, customer: string) {
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await page.getByRole('searchbox', { name: 'Search pending loans' }).fill(customer);
  await page.getByRole('link', { name: 'View Details' }).first().click();
  await confirmPayout(page);
}

const card = (page: Page) => page.getByRole('region', { name: 'Story' });
const step = (page: Page, text: RegExp) => card(page).getByRole('listitem').filter({ hasText: text });

test('a guest opens a link, and the card ticks the steps of a refusal as they happen', async ({
  page,
  mkopo,
}) => {
  const address = await linkTo(mkopo, 'refused');
  await page.goto(address);
  await expect(page.getByRole('heading', { name: 'A refusal and its reason' })).toBeVisible();
  await expectAccessible(page);
  await open(page, address);
  await expect(page).not.toHaveURL(/#/);
  await payOut(page, 'Otieno');
  await expect(page.getByText('The balance is insufficient for the transaction.').first()).toBeVisible();
  await expect(step(page, /Pay the loan of Otieno/)).toContainText('Done');
  await expect(step(page, /No money has left/)).toContainText('Done');
  await page.getByRole('button', { name: 'Try Again' }).click();
  await expect(page.getByRole('button', { name: 'Story, finished' })).toBeVisible();
  await card(page).getByRole('button', { name: 'Keep for 7 days' }).click();
  await expect(card(page).getByRole('button', { name: 'Keep for 7 days' })).toBeHidden();
  await inEachLook(page, () => expectAccessible(page));

  await page.goto(`${mkopo.url}/open/unknown`);
  await expect(page.getByRole('heading', { name: 'This link is not known' })).toBeVisible();
});

test('a presenter and a guest are in one sandbox, and each sees what the other does', async ({
  page,
  browser,
  mkopo,
}) => {
  await open(page, await linkTo(mkopo, 'first-payout', ['agent', 'supervisor']));
  await expect(card(page).getByText('Invite others')).toBeVisible();
  await card(page).getByText('Invite others').click();
  const invitation = await card(page)
    .getByText(/\/enter#supervisor\./)
    .first()
    .textContent();
  const other = await (await browser.newContext()).newPage();
  await other.goto(invitation ?? '');
  await expect(other.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
  await payOut(page, 'Wanjiru');
  await expect(page.getByText(/has been successfully disbursed to/)).toBeVisible();
  for (const one of [page, other])
    await expect(one.getByRole('button', { name: 'Story, finished' })).toBeVisible();
  await other.getByRole('link', { name: 'Pending Loans' }).click();
  await other.getByRole('searchbox', { name: 'Search pending loans' }).fill('Wanjiru Kamau');
  await expect(other.getByRole('row', { name: /Wanjiru Kamau/ })).toBeHidden();

  await card(page).getByRole('button', { name: 'Start again' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start again' }).click();
  await expect(page.getByRole('button', { name: /Story, step 2 of 3/ })).toBeVisible();
});

test('a lost answer is found when the guest goes on, and the sandbox is taken along', async ({
  page,
  mkopo,
}) => {
  await open(page, await linkTo(mkopo, 'lost-answer'));
  await payOut(page, 'Amina');
  await expect(step(page, /Pay the loan of Amina/)).toContainText('Done', { timeout: 20_000 });
  await card(page).getByRole('button', { name: 'Do it' }).click();
  await expect(page.getByRole('button', { name: 'Story, finished' })).toBeVisible({ timeout: 20_000 });
  const downloading = page.waitForEvent('download');
  await card(page).getByRole('button', { name: 'Take it with me' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('lost-answer.mkopo');
  const file = join(await mkdtemp(join(tmpdir(), 'mkopo-taken-')), 'lost-answer.mkopo');
  await copyFile(await download.path(), file);

  const { stop, url } = await startPortal({ MKOPO_FROM: file });
  try {
    await page.goto(`${url}/login`);
    await signInHere(page);
    await expect(page.getByRole('button', { name: 'Story, finished' })).toBeVisible();
  } finally {
    await stop();
  }
});

test.describe('a slice that breaks', () => {
  test.use({ expectedError: /breaks on purpose/ });

  test('costs its own screens only, and loans are paid', async ({ page, mkopo }) => {
    await open(page, await linkTo(mkopo, 'slice-breaks'));
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(
      page.getByRole('heading', { level: 1, name: 'This page has stopped working' }),
    ).toBeVisible();
    await payOut(page, 'Halima');
    await expect(page.getByRole('button', { name: 'Story, finished' })).toBeVisible();
  });
});

test('the operator tells a story on the console, and makes a link there', async ({ page, mkopo }) => {
  await page.goto(`${mkopo.consoleUrl}?token=${mkopo.token}`);
  const pages = page.getByRole('navigation', { name: 'Console' });
  await pages.getByRole('link', { name: 'Stories' }).click();
  await page.getByRole('button', { name: 'Make a sandbox that tells lost-answer' }).click();
  await expect(page.getByText(/is made\./)).toBeVisible();
  await pages.getByRole('link', { name: 'Sandboxes' }).click();
  await page.getByLabel('Story').selectOption('lost-answer');
  await page.getByRole('button', { name: 'Make a link' }).click();
  await expect(page.locator('#link')).toContainText('/open/');
  await inEachLook(page, async () => {
    await expectAccessible(page);
    await expectTidyLayout(page);
  });
});
