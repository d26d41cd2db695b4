import type { Browser, Page } from '@playwright/test';
import { type Mkopo, PASSWORD, type Who } from 'mkopo-test';
import { expectAccessible, inEachLook } from '../accessibility';
import { openLoan, signInHere } from '../acts';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

test.use({ settings: { MKOPO_SCREENS: 'live' } });

/** A page of somebody else, in a browser of their own. */
async function pageOf(browser: Browser, mkopo: Mkopo, who: Who) {
  const context = await browser.newContext({
    locale: 'en-KE',
    timezoneId: 'Africa/Nairobi',
    viewport: { width: 1280, height: 800 },
  });
  const page = await context.newPage();
  await mkopo.signIn(page, who);
  return page;
}

const menu = (page: Page) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Opens the first pending loan, and asks to pay it out. */
async function startPayout(page: Page) {
  await openLoan(page);
  await page.getByRole('button', { name: 'Disburse Loan' }).click();
}

test('an agent, a supervisor and an admin side by side see a payout arrive in open lists', async ({
  page: agent,
  browser,
  mkopo,
}) => {
  const supervisor = await pageOf(browser, mkopo, 'supervisor');
  const admin = await pageOf(browser, mkopo, 'admin');
  await mkopo.signIn(agent, 'agent');

  await test.step('each sees the menu of their role', async () => {
    const everyones = ['Dashboard', 'Pending Loans', 'Transactions', 'Reports'];
    await expect.poll(() => menu(agent)).toEqual(everyones);
    await expect.poll(() => menu(supervisor)).toEqual(everyones);
    await expect.poll(() => menu(admin)).toEqual([...everyones, 'Settings']);
  });

  await supervisor.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(supervisor.getByText('24 loan(s) pending disbursement')).toBeVisible();
  await admin.getByRole('link', { name: 'Transactions' }).click();
  const count = admin.getByText(/^\d+ transaction\(s\) found$/);
  const before = Number.parseInt((await count.textContent()) ?? '', 10);

  await test.step('the agent pays a loan out', async () => {
    await startPayout(agent);
    await agent.getByRole('button', { name: 'Confirm Disbursement' }).click();
    await expect(agent.getByText(/has been successfully disbursed to Mutua Simiyu/)).toBeVisible();
  });

  await test.step('the other two see it without doing anything', async () => {
    await expect(supervisor.getByText('23 loan(s) pending disbursement')).toBeVisible();
    await expect(supervisor.getByRole('row', { name: /Mutua Simiyu/ })).toHaveCount(0);
    await expect(admin.getByText(`${before + 1} transaction(s) found`)).toBeVisible();
    await expect(admin.getByRole('row', { name: /Mutua Simiyu/ }).first()).toContainText('Successful');
  });

  await test.step('a new loan reaches the list and the bell', async () => {
    await supervisor.getByRole('button', { name: /^Notifications/ }).click();
    const bell = supervisor.getByRole('button', { name: 'Notifications', exact: true });
    await expect(bell).toBeVisible();
    await supervisor.keyboard.press('Escape');
    await expect(bell).toBeFocused();
    await mkopo.loans.approve();
    await expect(supervisor.getByText('24 loan(s) pending disbursement')).toBeVisible();
    await expect(supervisor.getByRole('button', { name: 'Notifications, 1 unread' })).toBeVisible();
  });

  await test.step('a maximum that the admin sets holds for the agent at once', async () => {
    await admin.getByRole('link', { name: 'Settings' }).click();
    await admin.getByLabel('Maximum Disbursement Amount').fill('1000');
    await admin.getByRole('button', { name: 'Save Changes' }).click();
    await expect(admin.getByText('The settings are saved.')).toBeVisible();
    await startPayout(agent);
    await expect(agent.getByText(/at most KES 1,000/)).toBeVisible();
    await expect(agent.getByRole('button', { name: 'Confirm Disbursement' })).toBeDisabled();
    await expectAccessible(agent);
  });
  await supervisor.context().close();
  await admin.context().close();
});

/** Hides a tab behind another one, or shows it again: Playwright's pages are all visible. */
const setVisibility = (tab: Page, state: 'visible' | 'hidden') =>
  tab.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

test('of eight tabs of one person, one pays out, and each other one follows as soon as it is shown', async ({
  page,
  context,
  mkopo,
}) => {
  await mkopo.signIn(page, 'agent');
  await expect(heading(page, 'Dashboard')).toBeVisible();
  const others: Page[] = [];
  for (let tab = 2; tab <= 8; tab += 1)
    await test.step(`tab ${tab}`, async () => {
      const other = await context.newPage();
      await other.goto('/pending-loans');
      await expect(other.getByText('24 loan(s) pending disbursement')).toBeVisible();
      await setVisibility(other, 'hidden');
      others.push(other);
    });
  await test.step('the payout', async () => {
    await startPayout(page);
    await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
    await expect(page.getByText(/has been successfully disbursed to /)).toBeVisible();
  });
  for (const [index, other] of others.entries())
    await test.step(`tab ${index + 2} is shown`, async () => {
      await setVisibility(other, 'visible');
      await expect(other.getByText('23 loan(s) pending disbursement')).toBeVisible();
      await setVisibility(other, 'hidden');
    });
});

test('Back of a loan that was opened in a new tab leads to the list', async ({ page, context, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  const opened = context.waitForEvent('page');
  await page
    .getByRole('link', { name: /View Details/ })
    .first()
    .click({ modifiers: ['ControlOrMeta'] });
  const tab = await opened;
  await expect(tab.getByRole('button', { name: 'Disburse Loan' })).toBeVisible();
  await tab.getByRole('button', { name: 'Back', exact: true }).click();
  await expect(heading(tab, 'Pending Disbursements')).toBeVisible();
  await tab.close();
});

test('after a refusal or a save by keyboard, the focus stays on the page', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'admin');
  await page.goto('/profile');

  await test.step('a new password that is too short has the focus', async () => {
    await page.getByRole('button', { name: 'Change Password' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change Password' });
    await dialog.getByLabel('Current Password').fill(PASSWORD);
    await dialog.getByLabel('New Password', { exact: true }).fill('abc');
    await dialog.getByLabel('Confirm New Password').fill('abc');
    await page.keyboard.press('Enter');
    await expect(dialog.getByLabel('New Password', { exact: true })).toHaveAttribute('aria-invalid', 'true');
    await expect(dialog.getByLabel('New Password', { exact: true })).toBeFocused();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  });
  await test.step('after a lost call, the field has it', async () => {
    await page.route('**/profile/sign-in-code', (route) => route.abort('connectionreset'));
    await page.getByRole('button', { name: 'Enable' }).click();
    const dialog = page.getByRole('dialog', { name: 'Enable Two-Factor Authentication' });
    await dialog.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await expect(dialog.getByRole('alert')).toBeVisible();
    await expect(dialog.getByLabel('Password')).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  });
  await test.step('after the preferences are saved, their button', async () => {
    const save = page.getByRole('button', { name: 'Save Preferences' });
    await save.press('Enter');
    await expect(page.getByText('Your preferences are saved.')).toBeVisible();
    await expect(save).toBeFocused();
  });
  await test.step('after the settings are saved, the heading', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('switch', { name: 'Require Confirmation' }).press('Space');
    await page.getByRole('button', { name: 'Save Changes' }).press('Enter');
    await expect(page.getByText('The settings are saved.')).toBeVisible();
    await expect(heading(page, 'Settings')).toBeFocused();
  });
});

test('a report equals the records, on the page and in its CSV', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'supervisor');
  await page.getByRole('navigation').getByRole('link', { name: 'Reports' }).click();
  await page.getByRole('combobox', { name: 'Period' }).click();
  await page.getByRole('option', { name: 'This Year' }).click();
  await expect(page).toHaveURL(/\/reports\?period=year$/);
  await expect(heading(page, 'Reports')).toBeVisible();

  const supervisor = await mkopo.sessions.open('supervisor');
  const query = { period: 'year' } as const;
  const { data: report } = await supervisor.portal.GET('/api/v1/reports', { params: { query } });
  const inPeriod = (await supervisor.history()).filter(({ created_at }) => created_at >= report!.from);
  const completed = inPeriod.filter(({ status }) => status === 'COMPLETED');
  const total = completed.reduce((sum, { amount }) => sum + amount, 0);

  const figure = (title: string) => page.locator('dl', { hasText: title }).locator('dd').first();
  await expect(figure('Total Transactions')).toHaveText(String(inPeriod.length));
  await expect(figure('Total Disbursed')).toHaveText(`KES ${total.toLocaleString('en-KE')}`);

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export Report' }).click();
  const file = await (await download).createReadStream();
  const [head = '', ...lines] = (await file.setEncoding('utf8').toArray()).join('').trim().split('\r\n');
  const column = head.split(',').indexOf('completed_amount_kes');
  expect(lines.reduce((sum, line) => sum + Number(line.split(',')[column]), 0)).toBe(total);
});

test('an account that asks for a code at sign-in gets one', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Enable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Enable Two-Factor Authentication' });
  await dialog.getByLabel('Password').fill(PASSWORD);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Enable' }).click();
  await expect(page.getByText('On: a code by e-mail when you sign in')).toBeVisible();

  await page.getByRole('button', { name: 'Manage' }).click();
  await expect(page.getByRole('dialog', { name: 'Login Sessions' }).getByText('This session')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Logout' }).click();
  await signInHere(page);
  await expect(heading(page, 'Enter Verification Code')).toBeVisible();
  await page.getByLabel('Verification Code').fill(await mkopo.outbox.code({ to: 'agent' }));
  await page.getByRole('button', { name: 'Verify & Sign in' }).click();
  await expect(heading(page, 'Dashboard')).toBeVisible();
});

test('somebody chooses Kiswahili: every screen follows, here, after a reload and on another device', async ({
  page,
  browser,
  mkopo,
}) => {
  await mkopo.signIn(page, 'admin');
  const other = await pageOf(browser, mkopo, 'admin');

  const choose = async (label: string, name: string, save: string) => {
    await page.getByRole('combobox', { name: label }).click();
    await page.getByRole('option', { name }).click();
    await page.getByRole('button', { name: save }).click();
  };
  await test.step('in Settings, without a reload', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    await choose('Language', 'Kiswahili', 'Save Changes');
    await expect(heading(page, 'Mipangilio')).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'sw');
    await expect(page.getByRole('navigation', { name: 'Kuu' }).getByRole('link')).toHaveText([
      'Dashibodi',
      'Mikopo inayosubiri',
      'Miamala',
      'Ripoti',
      'Mipangilio',
    ]);
    await page.getByRole('link', { name: 'Mikopo inayosubiri' }).click();
    await expect(page.getByText('Mikopo 24 inasubiri kutolewa')).toBeVisible();
    expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true);
  });

  await test.step('on the other device, by itself', async () => {
    await expect(heading(other, 'Dashibodi')).toBeVisible();
  });

  await test.step('a reload is drawn in Swahili from the start, and nothing more is stored', async () => {
    await page.addInitScript(() => {
      const said = new Set<string>();
      Object.assign(window, { said });
      new MutationObserver(() => {
        for (const { textContent } of document.querySelectorAll('h1, nav')) said.add(textContent);
      }).observe(document, { childList: true, subtree: true });
    });
    await page.reload();
    await expect(page.getByText('Mikopo 24 inasubiri kutolewa')).toBeVisible();
    const said = await page.evaluate(() => [...(window as unknown as { said: Set<string> }).said].join(' '));
    expect(said).toContain('Mikopo inayosubiri kutolewa');
    expect(said).not.toMatch(/Pending|Dashboard|Transactions/);
    expect(await page.evaluate(() => Object.keys(localStorage).sort())).toEqual(['auth_token', 'user']);
  });

  await test.step('and back to English', async () => {
    await page.getByRole('link', { name: 'Mipangilio' }).click();
    await choose('Lugha', 'English', 'Hifadhi mabadiliko');
    await expect(heading(page, 'Settings')).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    await expect(heading(other, 'Dashboard')).toBeVisible();
  });
  await other.context().close();
});

test('the screens in Swahili are accessible and fit a window of 375 px, dark', async ({ browser, mkopo }) => {
  test.slow();
  const context = await browser.newContext({
    baseURL: mkopo.url,
    locale: 'sw-KE',
    timezoneId: 'Africa/Nairobi',
    colorScheme: 'dark',
    reducedMotion: 'reduce',
    viewport: { width: 375, height: 900 },
  });
  const page = await context.newPage();
  const check = async () => {
    await expectAccessible(page);
    await expectTidyLayout(page);
  };
  await test.step('before sign-in, in the language of the browser', async () => {
    await page.goto('/password-reset');
    await expect(heading(page, 'Weka barua pepe yako')).toBeVisible();
    await check();
    await page.goto('/login');
    await expect(heading(page, 'Ingia')).toBeVisible();
    await check();
    await page.getByLabel('Barua pepe').fill('admin@mkopo.test');
    await page.getByLabel('Nenosiri', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Ingia', exact: true }).click();
    // The person has not chosen Swahili.
    await expect(heading(page, 'Dashboard')).toBeVisible();
  });
  await page.goto('/profile');
  // By keyboard: what is drawn later may move the option under the pointer.
  await page.getByRole('combobox', { name: 'Language' }).press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Preferences' })).toContainText('Kiswahili');
  await page.getByRole('button', { name: 'Save Preferences' }).click();
  await expect(heading(page, 'Wasifu wangu')).toBeVisible();
  for (const [path, name] of [
    ['/profile', 'Wasifu wangu'],
    ['/', 'Dashibodi'],
    ['/settings', 'Mipangilio'],
    ['/reports', 'Ripoti'],
    ['/pending-loans?min=20000', 'Mikopo inayosubiri kutolewa'],
    ['/transactions?from=2026-01-01', 'Historia ya miamala'],
  ] as const)
    await test.step(path, async () => {
      await page.goto(path);
      await expect(heading(page, name)).toBeVisible();
      if (path.includes('?')) {
        await page.getByRole('button', { name: /^(Chuja|Vichujio)/ }).click();
        await expect(page.getByLabel('Kiasi hadi')).toBeVisible();
      } else await expect(page.locator('h2').first()).toBeVisible();
      await check();
    });
  await test.step('a payout', async () => {
    await page.goto('/pending-loans');
    await page.getByRole('link', { name: 'Tazama maelezo' }).first().click();
    await page.getByRole('button', { name: 'Toa mkopo' }).click();
    await expect(page.getByRole('dialog', { name: 'Thibitisha utoaji wa mkopo' })).toBeVisible();
    await check();
    await page.getByRole('button', { name: 'Thibitisha utoaji' }).click();
    await expect(page.getByText(/^Mkopo umetolewa kwa /)).toBeVisible();
    await check();
  });
  await context.close();
});

test('the live screens are accessible and fit narrow and wide windows', async ({ page, mkopo }) => {
  test.slow();
  // The looks that the specified screens and those in Swahili are not checked in.
  const looks = [
    ['dark', 1280],
    ['light', 320],
  ] as const;
  const check = async () => {
    await expectAccessible(page);
    await expectTidyLayout(page);
  };
  await mkopo.signIn(page, 'admin');
  await test.step('the bell', async () => {
    await page.getByRole('button', { name: /^Notifications/ }).click();
    await expect(page.getByRole('region', { name: 'Notifications' }).getByRole('link').first()).toBeVisible();
    await expectAccessible(page);
  });
  for (const [path, name] of [
    ['/settings', 'Settings'],
    ['/reports', 'Reports'],
    ['/pending-loans?min=20000', 'Pending Disbursements'],
    ['/transactions?from=2026-01-01', 'Transaction History'],
    ['/profile', 'My Profile'],
  ] as const)
    await test.step(path, async () => {
      await page.goto(path);
      await expect(heading(page, name)).toBeVisible();
      if (path.includes('?')) {
        await page.getByRole('button', { name: /Filter/ }).click();
        await expect(page.getByLabel('Amount to')).toBeVisible();
      } else await expect(page.getByRole('button', { name: /Save|Edit|Export/ }).first()).toBeVisible();
      await inEachLook(page, check, looks);
    });
  await test.step('the profile in a window of 768 px, with its fields open', async () => {
    await page.setViewportSize({ width: 768, height: 1024 });
    await page.getByRole('button', { name: 'Edit Profile' }).click();
    await expect(page.getByLabel('Phone Number')).toBeEnabled();
    await expectTidyLayout(page);
    for (const field of await page.locator('main input:not([role])').all()) {
      const width = await field.evaluate(({ clientWidth }) => clientWidth);
      expect(width, 'room for a name or an address').toBeGreaterThan(200);
    }
  });
});
