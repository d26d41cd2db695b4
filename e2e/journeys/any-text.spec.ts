import type { Page } from '@playwright/test';
import naughtyStrings from 'big-list-of-naughty-strings/blns.json' with { type: 'json' };
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

/** Set by `make fuzz`: all texts, and the tests that type each of them. */
const isAll = process.env['MKOPO_TEST_TEXTS'] === 'all';

/**
 * Texts that have broken other products: direction marks, markup, SQL, paths, emoji, letters of all scripts. `make test`
 * takes each fifth.
 */
const TEXTS = [...new Set(naughtyStrings)]
  .filter((text) => /[^\p{C}\p{Z}\s]/u.test(text))
  .filter((_, index) => isAll || index % 5 === 0);

const LISTS = ['**/api/v1/disbursements/pending', '**/api/v1/disbursement-records*'];
const FIELDS = [
  'customer_first_name',
  'approver_name',
  'approver_email',
  'purpose',
  'notes',
  'risk_level',
  'user_first_name',
  'error_message',
];

const inLetters = (index: number) =>
  String(index).replaceAll(/\d/g, (digit) => 'qwertyuiop'.charAt(Number(digit)));

/** Has the provider send a row for each text, which stands in all fields that are free text. */
async function sendRows(page: Page, texts: string[]) {
  for (const list of LISTS)
    await page.route(list, async (route) => {
      const response = await route.fetch();
      const [row] = (await response.json()) as Record<string, unknown>[];
      const json = texts.map((text, index) => ({
        ...row,
        ...Object.fromEntries(FIELDS.filter((name) => name in row!).map((name) => [name, text])),
        // Nothing else of the row is found by a text.
        customer_last_name: '',
        customer_phone_number: '',
        customer_id_number: '',
        user_last_name: '',
        mpesa_ref: null,
        id: inLetters(index),
        loan_id: inLetters(index),
      }));
      await route.fulfill({ response, json });
    });
}

/** The cells of the page's table, without the marks that isolate a text's direction. */
const cells = (page: Page) =>
  page.locator('td').evaluateAll((all) => all.map((cell) => cell.textContent.replace(/[\u2068\u2069]/g, '')));

/** The texts that no cell says as they are. */
const notSaid = (texts: string[], said: string[]) =>
  texts.filter((text) => !said.some((cell) => cell.includes(text.trim())));

/** Checks that the page's table says each text as it is. */
async function expectCells(page: Page, texts: string[]) {
  // Find-in-page has all rows of a long list drawn.
  await page.keyboard.press('Control+f');
  await expect.poll(async () => notSaid(texts, await cells(page))).toEqual([]);
}

/** Fails if the server is at fault, or if a text becomes a dialog of the browser. */
function watch(page: Page) {
  const faults: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 500) faults.push(`${answer.status()} ${answer.url()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(dialog.message());
    void dialog.dismiss();
  });
  return () => expect(faults).toEqual([]);
}

test('whatever text a provider sends, every screen shows it as it is', async ({ page, mkopo }) => {
  test.slow();
  const expectNoFault = watch(page);
  await sendRows(page, TEXTS);
  await mkopo.signIn(page, 'agent');
  await page.getByRole('link', { name: 'Pending Loans' }).click();

  await test.step('the pending loans', async () => {
    await expect(page.getByText(`Showing ${TEXTS.length} of ${TEXTS.length} results`)).toBeAttached();
    await expectCells(page, TEXTS);
    await expectTidyLayout(page);
  });
  await test.step('the transactions', async () => {
    const pages = Math.ceil(TEXTS.length / 100);
    for (let number = 1; number <= pages; number += 1) {
      await page.goto(`/transactions?size=100&page=${number}`);
      await expect(page.getByText(`${TEXTS.length} transaction(s) found`)).toBeVisible();
      await expectCells(page, TEXTS.slice((number - 1) * 100, number * 100));
      await expectTidyLayout(page);
    }
  });
  for (const address of ['/', '/reports'])
    await test.step(address, async () => {
      await page.goto(address);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectTidyLayout(page);
    });
  expectNoFault();
});

test('whatever text is searched for, the lists find it', async ({ page, mkopo }) => {
  test.skip(!isAll, 'make fuzz runs this');
  test.slow();
  const expectNoFault = watch(page);
  await sendRows(page, TEXTS);
  await mkopo.signIn(page, 'agent');

  for (const list of ['Pending Loans', 'Transactions'])
    await test.step(list, async () => {
      await page.getByRole('link', { name: list }).click();
      const search = page.getByRole('main').getByRole('searchbox');
      for (const text of TEXTS) {
        await search.fill(text);
        await expect(page.locator('td').filter({ hasText: text.trim() }).first()).toBeVisible();
      }
    });
  expectNoFault();
});

test('whatever text is typed at sign-in, it signs nobody in and breaks nothing', async ({ page }) => {
  test.skip(!isAll, 'make fuzz runs this');
  test.slow();
  const expectNoFault = watch(page);
  await page.goto('/login');
  for (const text of TEXTS) {
    await page.getByLabel('Email').fill(text);
    await page.getByLabel('Password', { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  await expect(page).toHaveURL('/login');
  expectNoFault();
});

test('whatever text is sent to the console, its pages show it as it is, or it is refused with a sentence', async ({
  page,
  mkopo,
}) => {
  const expectNoFault = watch(page);
  const kept: string[] = [];
  for (const text of TEXTS) {
    const loan = { customer_first_name: text };
    const { data, error, response } = await mkopo.console.POST('/console/api/loans', {
      body: { count: 1, loan },
    });
    if (data) kept.push(text);
    else expect(`${response.status} ${error.error}`).toMatch(/^422 .+/);
  }
  expect(kept.length).toBeGreaterThan(TEXTS.length / 2);

  await page.goto(`${mkopo.consoleUrl}?token=${mkopo.token}`);
  await page.goto(`${mkopo.consoleUrl}/loans`);
  const older = page.getByRole('link', { name: 'Older' });
  const said: string[] = [];
  for (;;) {
    await expectTidyLayout(page);
    said.push(...(await cells(page)));
    if (!(await older.isVisible())) break;
    await older.click();
    await page.waitForLoadState();
  }
  expect(notSaid(kept, said)).toEqual([]);
  expectNoFault();
});
