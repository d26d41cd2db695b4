import type { Page } from '@playwright/test';
import { type Mkopo, PASSWORD } from 'mkopo-test';
import { expectTidyLayout, touchProblemsOf } from '../layout';
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

/** The screens besides the dashboard, the lists and a loan. */
const OTHER_SCREENS = [
  ['/reports', 'Reports'],
  ['/settings', 'Settings'],
  ['/profile', 'My Profile'],
] as const;

for (const [label, viewport, deviceScaleFactor] of [
  ['1280 px', { width: 1280, height: 800 }, 1],
  ['1100 px', { width: 1100, height: 800 }, 1],
  ['768 px', { width: 768, height: 1024 }, 1],
  // A window of 1280 px at a zoom of 200%.
  ['200% zoom', { width: 640, height: 400 }, 2],
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
      for (const [address, name] of OTHER_SCREENS)
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

test('a loan fits 320 px with the letters, words and lines further apart', async ({ page, mkopo }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await mkopo.signIn(page, 'agent');
  await page.goto('/pending-loans');
  await page.getByRole('link', { name: 'View Details' }).first().click();
  await expect(heading(page, 'Loan Details')).toBeVisible();
  // The spacing of WCAG 1.4.12, which a reader's own style sheet may set.
  await page.addStyleTag({
    content: `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
      p { margin-bottom: 2em !important }`,
  });
  await expectTidyLayout(page);
});

/** Adds what is hard to use with a finger to the problems of the screens before; a toast covers a control for seconds only. */
async function addTouchProblems(page: Page, name: string, problems: string[], part = 'body') {
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('[aria-label="Dismiss"]')) button.click();
  });
  problems.push(...(await touchProblemsOf(page, part)).map((problem) => `${name}: ${problem}`));
}

/** Visits every screen before sign-in, and checks each of its steps. */
async function visitPublicScreens(page: Page, check: (name: string) => Promise<void>) {
  await page.goto('/login');
  await expect(heading(page, 'Sign in')).toBeVisible();
  await check('Sign in');
  await page.getByLabel('Email').fill('agent@mkopo.test');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in with OTP' }).click();
  await expect(heading(page, 'Enter Verification Code')).toBeVisible();
  await check('Enter Verification Code');
  await page.goto('/password-reset');
  await page.getByLabel('Email').fill('agent@mkopo.test');
  await check('Enter your email');
  await page.getByRole('button', { name: 'Send Reset Code' }).click();
  await expect(page.getByLabel('Confirm New Password')).toBeVisible();
  await check('Reset Password');
}

/** Signs in, visits every screen and checks it, with its fields open and its lists drawn. */
async function visitScreens(page: Page, mkopo: Mkopo, check: (name: string) => Promise<void>) {
  await mkopo.signIn(page, 'admin');
  for (const [address, name] of [
    ['/', 'Dashboard'],
    ['/pending-loans', 'Pending Disbursements'],
    ['/transactions', 'Transaction History'],
    ...OTHER_SCREENS,
  ] as const)
    await test.step(name, async () => {
      await page.goto(address);
      await expect(heading(page, name)).toBeVisible();
      await expect(page.getByRole('main').getByRole('status', { name: 'Loading' })).toHaveCount(0);
      if (name === 'My Profile') await page.getByRole('button', { name: 'Edit Profile' }).click();
      await check(name);
    });
  await test.step('Loan Details', async () => {
    await page.goto('/pending-loans');
    await page.getByRole('link', { name: 'View Details' }).first().click();
    await expect(heading(page, 'Loan Details')).toBeVisible();
    await check('Loan Details');
  });
}

test.describe('in the dark theme', () => {
  test.use({ colorScheme: 'dark' });

  test('what is printed is light on every screen', async ({ page, mkopo }) => {
    const found: string[] = [];
    await visitScreens(page, mkopo, async (name) => {
      found.push(name);
      await page.emulateMedia({ media: 'print' });
      // A browser prints what there is after this event, and waits for no transition.
      expect(await page.evaluate(paleTexts), name).toEqual([]);
      await expect(page.locator('body'), name).toHaveCSS('color', 'rgb(21, 26, 33)');
      await expect(page.locator('html'), name).toHaveCSS('background-color', 'rgb(255, 255, 255)');
      await page.emulateMedia({ media: null });
      await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
    });
    expect(found).toHaveLength(7);
  });
});

/** Runs in the page: the texts of the content that are as pale on paper as on a dark screen. */
async function paleTexts(): Promise<string[]> {
  window.dispatchEvent(new Event('beforeprint'));
  // Listeners of the event draw after it.
  await Promise.resolve();
  const lightness = (color: string) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return alpha === 0 ? null : (red + green + blue) / 3;
  };
  const pale: string[] = [];
  for (const element of document.querySelectorAll('main :is(h1, h2, p, dd, td, th, label, input)')) {
    if (!element.checkVisibility()) continue;
    const { color, backgroundColor } = getComputedStyle(element);
    const [text, behind] = [lightness(color) ?? 0, lightness(backgroundColor) ?? 255];
    if (text > 160 || behind < 160)
      pale.push(`${element.tagName} ${element.textContent.slice(0, 30)}: ${color} on ${backgroundColor}`);
  }
  return pale;
}

test.describe('on a phone', () => {
  test.use({ viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });

  test('before sign-in, phones zoom into no field, and fingers meet what they aim at', async ({ page }) => {
    const problems: string[] = [];
    await visitPublicScreens(page, (name) => addTouchProblems(page, name, problems));
    expect(problems).toEqual([]);
  });

  test('on every screen, phones zoom into no field, and fingers meet what they aim at', async ({
    page,
    mkopo,
  }) => {
    test.slow();
    const problems: string[] = [];
    await visitScreens(page, mkopo, (name) => addTouchProblems(page, name, problems));
    await test.step('the dialog of a payout', async () => {
      await page.getByRole('button', { name: 'Disburse Loan' }).click();
      await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
      await addTouchProblems(page, 'dialog', problems, '[role="dialog"]');
    });
    expect(problems).toEqual([]);
  });
});

test.describe('live screens', () => {
  test.skip(Boolean(process.env.MKOPO_E2E_URL), 'these start a portal of their own');
  test.use({ settings: { MKOPO_SCREENS: 'live' } });

  test('the profile fits a window of 768 px, with its fields open', async ({ page, mkopo }) => {
    await page.setViewportSize({ width: 768, height: 1024 });
    await mkopo.signIn(page, 'agent');
    await page.goto('/profile');
    await page.getByRole('button', { name: 'Edit Profile' }).click();
    await expect(page.getByLabel('Phone Number')).toBeEnabled();
    await expectTidyLayout(page);
    for (const field of await page.locator('main input:not([role])').all()) {
      const width = await field.evaluate(({ clientWidth }) => clientWidth);
      expect(width, 'room for a name or an address').toBeGreaterThan(200);
    }
  });

  test.describe('on a phone', () => {
    test.use({ viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true });

    test('phones zoom into no field of them, and fingers meet what they aim at', async ({ page, mkopo }) => {
      test.slow();
      const problems: string[] = [];
      await visitScreens(page, mkopo, (name) => addTouchProblems(page, name, problems));
      await test.step('the filters of a list', async () => {
        await page.goto('/pending-loans?min=20000');
        await page.getByRole('button', { name: /Filter/ }).click();
        await expect(page.getByLabel('Amount to')).toBeVisible();
        await addTouchProblems(page, 'filters', problems);
      });
      await test.step('the bell', async () => {
        await page.getByRole('button', { name: /^Notifications/ }).click();
        await expect(
          page.getByRole('region', { name: 'Notifications' }).getByRole('link').first(),
        ).toBeVisible();
        await addTouchProblems(page, 'bell', problems, 'section[aria-label="Notifications"]');
      });
      expect(problems).toEqual([]);
    });
  });
});

test('the footer begins where the content does, also in a wide window', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  for (const width of [1920, 1280, 768, 375]) {
    await page.setViewportSize({ width, height: 1000 });
    // The box of a text, not of its element, which has a padding.
    const left = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return Math.round(range.getBoundingClientRect().left);
        });
    expect(await left('footer'), `${width} px`).toBe(await left('main h1'));
  }
});

test.describe('on a narrow phone, under a brand of a few words', () => {
  test.skip(Boolean(process.env.MKOPO_E2E_URL), 'these start a portal of their own');
  test.use({
    viewport: { width: 320, height: 640 },
    hasTouch: true,
    settings: { MKOPO_BRAND: 'Jamii Microfinance Bank' },
  });

  test('the header, the tools of a list and the sort bar of more than 50 loans fit', async ({
    page,
    mkopo,
  }) => {
    await page.route('**/api/v1/disbursements/pending', async (route) => {
      const response = await route.fetch();
      const [row] = (await response.json()) as Row[];
      const json = Array.from({ length: 51 }, (_, index) => ({ ...row, loan_id: `LN-${index}` }));
      await route.fulfill({ response, json });
    });
    await mkopo.signIn(page, 'agent');
    await page.goto('/pending-loans');
    await expect(page.getByText('Showing 51 of 51 results')).toBeAttached();
    await expectTidyLayout(page);
    await page.goto('/transactions');
    await expect(page.getByRole('button', { name: 'More Filters' })).toBeVisible();
    await expectTidyLayout(page);
  });
});
