import type { Page } from '@playwright/test';
import { type Mkopo, Portal } from 'mkopo-test';
import { addressesOfTheRun } from 'mkopo-test/portal';
import { expectAccessible, inEachLook } from '../accessibility';
import { confirmPayout, openLoan, signInHere } from '../acts';
import { expectControlsInSight } from '../layout';
import { expect, test } from '../test';

const EMAIL = 'agent@mkopo.test';

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens the console in a tab beside the portal. */
async function openConsole(page: Page, { consoleUrl, token }: Mkopo) {
  const console = await page.context().newPage();
  await console.goto(`${consoleUrl}?token=${token}`);
  await expect(title(console, 'Overview')).toBeVisible();
  await expect(console, 'the token does not stay in the address').toHaveURL(/\/console$/);
  return console;
}

/** The names of all pages, from the navigation. */
async function pagesOf(console: Page) {
  const nav = console.getByRole('navigation', { name: /^Console/ });
  const names = await nav.getByRole('link').allTextContents();
  expect(names.length, 'pages in the navigation').toBeGreaterThan(10);
  return names;
}

async function go(console: Page, name: string) {
  await console.getByRole('navigation', { name: 'Console', exact: true }).getByRole('link', { name }).click();
  await expect(title(console, name)).toBeVisible();
}

/** The message after a form is submitted. */
const message = (console: Page) => console.locator('#done');

async function confirm(console: Page, name: string) {
  await console.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

test('REQ-105..107 read a code in the outbox and sign in with it', async ({ page, context, mkopo }) => {
  await page.goto('/login');
  const link = page.getByRole('link', { name: 'outbox (opens in a new tab)' });
  const [console] = await Promise.all([context.waitForEvent('page'), link.click()]);

  await test.step('without its token the console asks for it', async () => {
    await expect(title(console, 'Sign in to the console')).toBeVisible();
    await expect(console.getByLabel('Token')).toBeFocused();
    await expectAccessible(console);
    await console.keyboard.type('no-such-token');
    await console.keyboard.press('Enter');
    await expect(console.getByRole('alert')).toHaveText("That is not the console's token.");
    await expectAccessible(console);
    await console.keyboard.type(mkopo.token);
    await console.keyboard.press('Enter');
    await expect(title(console, 'Outbox')).toBeVisible();
    await expect(console.getByText('No messages yet')).toBeVisible();
  });

  await signInHere(page, EMAIL, 'Sign in with OTP');
  await expect(page.getByText(`We sent a 6-digit code to ${EMAIL}.`)).toBeVisible();
  await expectAccessible(page);

  await test.step('the code appears without a reload, and is copied', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const code = await console.locator('.code code').textContent();
    expect(code).toMatch(/^\d{6}$/);
    await console.getByRole('button', { name: `Copy the code ${code}` }).click();
    await page.bringToFront();
    await page.getByLabel('Verification Code').focus();
    await page.keyboard.press('ControlOrMeta+v');
    await page.keyboard.press('Enter');
    await expect(title(page, 'Dashboard')).toBeVisible();
  });
});

test('make the next payout fail, and see it in the portal', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  const console = await openConsole(page, mkopo);
  await go(console, 'Scenario');
  await console.getByLabel('Outcome', { exact: true }).selectOption('insufficient_funds');
  await button(console, 'Set').click();
  await expect(message(console)).toHaveText('Queued for the next payouts: insufficient funds (code 1).');

  await go(console, 'Loans');
  await console.getByLabel('First name').fill('Wanjiku');
  await console.getByLabel('Last name').fill('Kamau');
  await console.getByLabel('Amount, in KES').fill('25000');
  await console.getByLabel('Amount, in KES').press('Enter');
  await expect(message(console)).toHaveText(
    'KES 25,000 for \u2068Wanjiku Kamau\u2069 is approved and ready to be paid out.',
  );

  await page.reload();
  await openLoan(page, /Wanjiku Kamau.*KES 25,000/);
  await confirmPayout(page);
  await expect(page.getByText('The balance is insufficient for the transaction.').first()).toBeVisible();
  await expectAccessible(page);

  await test.step("the console's pages show it too, without a reload", async () => {
    await go(console, 'Payouts');
    const row = console.getByRole('row', { name: /Wanjiku Kamau/ });
    await expect(row).toContainText('The balance is insufficient for the transaction. (code 1)');
    await button(page, 'Try Again').click();
    await expect(row.filter({ hasText: 'Completed' })).toBeVisible();
    await expect(console.getByText('Every shilling is accounted for')).toBeVisible();
  });
});

test('save, restore and reset the data', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.goto('/pending-loans');
  const counted = page.getByText(/\d+ loan\(s\) pending disbursement/);
  const before = await counted.textContent();
  const console = await openConsole(page, mkopo);

  await go(console, 'Data');
  await console.getByLabel('Name').fill('before');
  await button(console, 'Save all data').click();
  await expect(message(console)).toHaveText('Saved as before.');
  await expect(message(console), 'a page that was just loaded announces nothing else').toBeFocused();
  await go(console, 'Loans');
  await console.getByLabel('How many').fill('7');
  await console.getByLabel('How many').press('Enter');
  await expect(message(console)).toHaveText('7 loans approved.');
  await page.reload();
  await expect(counted).not.toHaveText(before ?? '');

  await test.step('restoring asks for confirmation, with focus on Cancel', async () => {
    await go(console, 'Data');
    await button(console, 'Restore before').click();
    await expect(button(console, 'Cancel')).toBeFocused();
    await expectAccessible(console);
    await console.keyboard.press('Escape');
    await expect(console.getByRole('dialog')).toBeHidden();
    await button(console, 'Restore before').click();
    await confirm(console, 'Restore');
    await expect(message(console)).toHaveText(
      'before is restored: data, messages, faults, scenario and clock.',
    );
    await page.reload();
    await expect(counted).toHaveText(before ?? '');
  });

  await test.step('a reset signs everyone out of the portal', async () => {
    await button(console, 'Reset').click();
    await expect(title(console, 'Reset to the demo data?')).toBeVisible();
    await button(console, 'Reset').click();
    await expect(message(console)).toHaveText('The demo data is restored.');
    await page.reload();
    await expect(page.getByLabel('Email')).toBeVisible();
  });
});

test('a menu closes when the focus or the pointer goes elsewhere, and with Escape', async ({
  page,
  mkopo,
}) => {
  const console = await openConsole(page, mkopo);
  // A window of 1280 x 1024 at a zoom of 400%: the menu covers all of the page.
  await console.setViewportSize({ width: 320, height: 256 });
  const menu = console.getByRole('navigation', { name: 'Console pages' });
  const opener = console.getByLabel('Menu');
  await opener.focus();
  await console.keyboard.press('Enter');
  await expect(menu).toBeVisible();
  await menu.getByRole('link').last().focus();
  await expect(menu).toBeVisible();
  await console.keyboard.press('Tab');
  await expect(menu).toBeHidden();
  await opener.click();
  await expect(menu).toBeVisible();
  await console.mouse.click(250, 20);
  await expect(menu).toBeHidden();
  await opener.click();
  await console.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect(opener).toBeFocused();
});

test('in forced colours, the legend of a chart and the edge of a dialog can be seen', async ({
  page,
  mkopo,
}) => {
  const console = await openConsole(page, mkopo);
  await console.emulateMedia({ forcedColors: 'active' });
  const colors = await console
    .locator('.legend')
    .first()
    .locator('i')
    .evaluateAll((marks) => marks.map((mark) => getComputedStyle(mark).backgroundColor));
  expect(colors.length).toBeGreaterThan(1);
  expect(new Set(colors).size).toBe(colors.length);
  await go(console, 'Data');
  await button(console, 'Reset without loans and payouts').click();
  await expect(console.getByRole('dialog')).toHaveCSS('border-style', 'solid');
});

test('move the clock past the end of a session', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  const console = await openConsole(page, mkopo);
  await go(console, 'Clock');
  await button(console, '1 day').click();
  await expect(message(console)).toContainText('Sessions, codes, limits, receipts and dates moved with it.');
  await page.getByRole('link', { name: 'Transactions' }).click();
  await expect(page.getByText('Your session expired. Please log in again.')).toBeVisible();

  await test.step('an invalid duration stays in the field', async () => {
    await console.getByLabel('By how much').fill('-5m');
    await button(console, 'Move').click();
    await expect(console.getByLabel('By how much')).toHaveValue('-5m');
    await expect(console.getByLabel('By how much')).toBeFocused();
    await expect(console.getByRole('alert')).toHaveText(
      '"-5m" is not a duration such as 90s, 15m, 12h or 2d.',
    );
    await expectAccessible(console);
    await button(console, 'Back to the real time').click();
    await expect(console.getByText('The real time', { exact: true })).toBeVisible();
  });
});

test('an act is done that is confirmed after its list has changed', async ({ page, mkopo }) => {
  const console = await openConsole(page, mkopo);
  await go(console, 'Staff');
  await button(console, `Deactivate ${EMAIL}`).click();
  await mkopo.sessions.open('supervisor');
  await expect(console.locator('#count')).toHaveText('4 accounts, 1 open session');
  await confirm(console, 'Deactivate');
  await expect(message(console)).toHaveText(`${EMAIL} is deactivated and all its sessions are ended.`);
});

test('a refresh moves neither the focus nor what is being read', async ({ page, mkopo }) => {
  const agent = await mkopo.sessions.open('agent');
  const paid = await mkopo.loans.approve();
  await agent.payOut(paid);
  const console = await openConsole(page, mkopo);

  await test.step('an opened body of a call', async () => {
    await go(console, 'Traffic');
    const rows = console.getByRole('row');
    const call = rows.filter({ hasText: `/${paid.loan_id}/disburse` });
    await call.getByText('Bodies and request ID').click();
    const body = call.getByLabel('Response body');
    await body.evaluate((element) => element.scrollTo(0, 200));
    await agent.history();
    await expect(rows.nth(1)).toContainText('GET /api/v1/disbursement-records');
    await expect(call.locator('summary')).toBeFocused();
    expect(await body.evaluate((element) => element.scrollTop)).toBe(200);
  });

  await test.step('the link of a payout', async () => {
    await go(console, 'Payouts');
    const first = console.getByRole('row').nth(1).getByRole('link');
    const address = (await first.getAttribute('href')) ?? '';
    await first.focus();
    await agent.payOut(await mkopo.loans.approve());
    await expect(first).not.toHaveAttribute('href', address);
    await expect(console.locator(`a[href="${address}"]`)).toBeFocused();
  });

  await test.step('a figure', async () => {
    await go(console, 'Overview');
    const figure = console.getByRole('main').getByRole('link', { name: 'Open sessions' });
    await figure.focus();
    await mkopo.sessions.open('supervisor');
    await expect(figure).toContainText('2');
    await expect(figure).toBeFocused();
  });
});

test('the buttons of an open page follow what is changed elsewhere', async ({ page, mkopo }) => {
  const console = await openConsole(page, mkopo);
  await go(console, 'Clock');
  await mkopo.clock.freeze();
  await button(console, 'Start the clock').click();
  await expect(message(console)).toHaveText('The clock is running.');
  await go(console, 'Faults');
  await mkopo.faults.add({ path: '/api/v1/auth/me', kind: 'drop' });
  await expect(console.getByRole('row', { name: '/api/v1/auth/me' })).toBeVisible();
  await button(console, 'End all faults').click();
  await expect(message(console)).toHaveText('All faults are removed.');
});

test('who is signed out keeps what was typed, and goes on after signing in again', async ({
  page,
  mkopo,
}) => {
  const console = await openConsole(page, mkopo);
  await go(console, 'Clock');
  await console.getByLabel('By how much').fill('5m');
  await page.context().clearCookies();
  await expect(console.getByRole('alert')).toHaveText(
    'You are signed out. Sign in again in another tab to go on here with what you have typed.',
  );
  await expectAccessible(console);
  const other = await openConsole(page, mkopo);
  await expect(console.getByRole('alert')).toBeHidden();
  await button(console, 'Move').click();
  await expect(message(console)).toContainText('The time is now');

  await test.step('where nothing was typed, the sign-in page is shown', async () => {
    await page.context().clearCookies();
    for (const one of [console, other]) await expect(title(one, 'Sign in to the console')).toBeVisible();
  });
});

test('the open console of a sandbox that is removed says so', async ({ page }) => {
  test.skip(Boolean(process.env.MKOPO_E2E_URL), 'a deployed portal need not have sandboxes');
  const portal = await Portal.connect(addressesOfTheRun());
  const sandbox = await portal.makeSandbox();
  const console = await openConsole(page, sandbox);
  await go(console, 'Clock');
  await console.getByLabel('By how much').fill('5m');
  await portal.removeSandbox(sandbox);
  await expect(console.getByRole('alert')).toHaveText(
    'This sandbox is gone: it has expired or was removed. This page shows an earlier state of it.',
  );
  await expect(console.getByLabel('By how much')).toHaveValue('5m');
});

const WIDE = { width: 1280, height: 800 };

test('every page is accessible, wide and light, narrow and dark', async ({ page, mkopo }) => {
  // Axe checks every page twice.
  test.slow();
  const console = await openConsole(page, mkopo);
  await go(console, 'Faults');
  await button(console, "Lose the next payout's response").click();
  await mkopo.signIn(page, 'agent');
  for (const name of await pagesOf(console))
    await test.step(name, async () => {
      await console.setViewportSize(WIDE);
      await go(console, name);
      await inEachLook(console, async () => {
        const isWider = await console.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        expect(isWider, 'it scrolls sideways').toBe(false);
        await expectAccessible(console);
      });
    });
  await test.step('with the keyboard alone', async () => {
    await console.setViewportSize(WIDE);
    await go(console, 'Staff');
    await console.reload();
    await console.keyboard.press('Tab');
    await expect(console.getByRole('link', { name: 'Skip to content' })).toBeFocused();
    await console.keyboard.press('Enter');
    await console.keyboard.press('Tab');
    await expect(button(console, "End everybody's sessions")).toBeFocused();
  });
});

const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff-Nyambura';

/** Makes this many rows with long names for each page that has a list of its own. */
async function makeRows(mkopo: Mkopo, count: number) {
  for (const number of Array(count).keys()) {
    await mkopo.staff.open({
      email: `${LONG_NAME}.${number}@a-very-long-domain-name.example.com`,
      first_name: LONG_NAME,
      last_name: `${LONG_NAME} ${number}`,
    });
    await mkopo.faults.add({ path: '/api/v1/disbursements/*/disburse', kind: 'status', status: 503 });
  }
  // A sandbox has room for 20.
  for (const number of Array(count && 12).keys())
    await mkopo.snapshots.save(`a-very-long-name-of-a-snapshot-${number}`);
  if (count > 0)
    await mkopo.loans.approveMany(count, {
      customer_first_name: LONG_NAME,
      customer_last_name: LONG_NAME,
    });
}

for (const [rows, count, start] of [
  ['no row leaves', 0, { seed: 'empty' }],
  ['30 rows with long names leave', 30, {}],
] as const)
  test.describe(rows, () => {
    test.use({ start });

    test(`${rows} every control of every page in sight`, async ({ page, mkopo }) => {
      test.slow();
      await makeRows(mkopo, count);
      const console = await openConsole(page, mkopo);
      for (const name of await pagesOf(console))
        await test.step(name, async () => {
          await console.goto(`${mkopo.consoleUrl}${name === 'Overview' ? '' : `/${name.toLowerCase()}`}`);
          await expect(title(console, name)).toBeVisible();
          for (const width of [320, 375, 768, 1280, 1920]) {
            await console.setViewportSize({ width, height: 800 });
            await test.step(`${width} px`, () => expectControlsInSight(console));
          }
        });
    });
  });

test('sandboxes with long names can be opened and removed at every width', async ({ page }) => {
  test.skip(Boolean(process.env.MKOPO_E2E_URL), 'a deployed portal need not have sandboxes');
  const name = 'a-very-long-name-of-a-sandbox-of-a-team';
  const portal = await Portal.connect(addressesOfTheRun());
  const sandbox = await portal.makeSandbox({ name });
  const { consoleUrl, token } = await portal.main();
  await page.goto(`${consoleUrl}?token=${token}`);
  for (const width of [320, 768, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${consoleUrl}/sandboxes`);
    await expect(page.getByRole('link', { name: `Open the console of ${name}` })).toBeVisible();
    await expectControlsInSight(page);
    const mark = await page.getByText('Console', { exact: true }).boundingBox();
    expect(mark?.width, `what tells the console from the portal at ${width} px`).toBeGreaterThan(40);
    await page.getByText('Sandbox main', { exact: true }).click();
    const menu = page.getByRole('navigation', { name: 'Sandboxes' });
    await expect(menu.getByRole('link', { name })).toBeInViewport({ ratio: 1 });
    const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isWider, `the menu leaves a window of ${width} px`).toBe(false);
  }
  await portal.removeSandbox(sandbox);
});

test('the pages work without JavaScript', async ({ browser, mkopo }) => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 375, height: 800 },
  });
  const console = await context.newPage();
  await console.goto(`${mkopo.consoleUrl}/data`);
  await console.getByLabel('Token').fill(mkopo.token);
  await button(console, 'Sign in').click();
  await expect(title(console, 'Data')).toBeVisible();
  await console.getByLabel('Name').fill('no good name');
  await button(console, 'Save all data').click();
  await expect(console.getByRole('alert')).toContainText("A snapshot's name has");
  await expect(console.getByLabel('Name')).toHaveValue('no good name');
  await console.getByLabel('Name').fill('good-name');
  await button(console, 'Save all data').click();
  await expect(message(console)).toHaveText('Saved as good-name.');
  await button(console, 'Restore good-name').click();
  await expect(title(console, 'Restore good-name?')).toBeVisible();
  await button(console, 'Restore').click();
  await expect(message(console)).toContainText('good-name is restored');
  await console.getByLabel('Menu').click();
  const pages = await pagesOf(console);
  await console.getByLabel('Menu').click();
  for (const name of pages) {
    await console.getByLabel('Menu').click();
    await console.getByRole('navigation', { name: 'Console pages' }).getByRole('link', { name }).click();
    await expect(title(console, name)).toBeVisible();
    await expect(button(console, 'Copy')).toBeHidden();
  }
  await button(console, 'Sign out').click();
  await expect(title(console, 'Sign in to the console')).toBeVisible();
  await context.close();
});
