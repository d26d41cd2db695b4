import type { Page } from '@playwright/test';
import type { Mkopo } from 'mkopo-test';
import { signInHere, untilDrawn } from '../acts';
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

/** Where a text begins: its own box, not that of its element, which has a padding. */
const leftOf = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return Math.round(range.getBoundingClientRect().left);
    });

/** The screens besides the dashboard, the lists and a loan. */
const OTHER_SCREENS = [
  ['/reports', 'Reports'],
  ['/settings', 'Settings'],
  ['/profile', 'My Profile'],
] as const;

/** The sizes of windows; 640 px is a window of 1280 px at a zoom of 200%. */
const WINDOWS = [
  [1920, 1000],
  [1280, 800],
  [1100, 800],
  [768, 1024],
  [640, 400],
  [320, 640],
] as const;

test('every screen fits windows of all sizes, with long names and amounts', async ({ page, mkopo }) => {
  test.slow();
  const expectTidy = async (check?: () => Promise<void>) => {
    for (const [width, height] of WINDOWS)
      await test.step(`${width} px`, async () => {
        await page.setViewportSize({ width, height });
        await untilDrawn(page);
        await expectTidyLayout(page);
        await check?.();
      });
  };
  await mkopo.signIn(page, 'agent');
  await useLongValues(page);

  await test.step('dashboard', async () => {
    await page.goto('/');
    await expect(page.getByRole('table', { name: 'Pending Disbursements' })).toBeVisible();
    await expectTidy(async () => {
      const [footer, title] = [await leftOf(page, 'footer'), await leftOf(page, 'main h1')];
      expect(footer, 'the footer begins where the content does').toBe(title);
    });
  });
  await test.step('transactions', async () => {
    await page.goto('/transactions?size=10');
    await expect(page.getByText('Showing 1 to 10 of 60 results')).toBeVisible();
    await expectTidy();
  });
  for (const [address, name] of OTHER_SCREENS)
    await test.step(name, async () => {
      await page.goto(address);
      await expect(heading(page, name)).toBeVisible();
      await expectTidy();
    });
  for (const [index, { last }] of NAMES.entries())
    await test.step(`the loan of ${last}`, async () => {
      await page.goto('/pending-loans');
      await expect(page.getByText('Showing 24 of 24 results')).toBeVisible();
      if (index === 0) await expectTidy();
      await page.getByRole('link', { name: 'View Details' }).nth(index).click();
      await expect(heading(page, 'Loan Details')).toBeVisible();
      await expectTidy();
      await page.getByRole('button', { name: 'Disburse Loan' }).click();
      await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
      await expectTidy();
      if (index > 0) return;
      // The server rejects the amount, because it is not the loan's.
      await page.getByRole('button', { name: 'Confirm Disbursement' }).click();
      await expect(page.getByRole('button', { name: 'Try Again' })).toBeFocused();
      await expectTidy();
    });
});

test('with the letters, words and lines further apart, every screen fits 320 px and no choice is cut off', async ({
  page,
  mkopo,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await visitScreens(page, mkopo, async (name) => {
    // The spacing of WCAG 1.4.12, which a reader's own style sheet may set.
    await page.addStyleTag({
      content: `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
        p { margin-bottom: 2em !important }`,
    });
    await expectTidyLayout(page);
    const cut = await page
      .locator('header span, .ant-select-content')
      .evaluateAll((all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent),
      );
    expect(cut, name).toEqual([]);
  });
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
  await signInHere(page, 'agent@mkopo.test', 'Sign in with OTP');
  await expect(heading(page, 'Enter Verification Code')).toBeVisible();
  await check('Enter Verification Code');
  await page.goto('/password-reset');
  await page.getByLabel('Email').fill('agent@mkopo.test');
  await check('Enter your email');
  await page.getByRole('button', { name: 'Send Reset Code' }).click();
  await expect(page.getByLabel('Confirm New Password')).toBeVisible();
  await check('Reset Password');
}

const SCREENS = [
  ['/', 'Dashboard'],
  ['/pending-loans', 'Pending Disbursements'],
  ['/transactions', 'Transaction History'],
  ...OTHER_SCREENS,
] as const;

/** Signs in, visits these screens and a loan, and checks each, with its fields open and its lists drawn. */
async function visitScreens(
  page: Page,
  mkopo: Mkopo,
  check: (name: string) => Promise<void>,
  screens: readonly (readonly [address: string, name: string])[] = SCREENS,
) {
  await mkopo.signIn(page, 'admin');
  for (const [address, name] of screens)
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

  test('before sign-in and on specified screens, phones zoom into no field, and fingers meet what they aim at', async ({
    page,
    mkopo,
  }) => {
    test.slow();
    const problems: string[] = [];
    const check = (name: string) => addTouchProblems(page, name, problems);
    await visitPublicScreens(page, check);
    // The dashboard and the lists have the same controls where the screens are live, and some more.
    await visitScreens(page, mkopo, check, OTHER_SCREENS);
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

  test.describe('on a phone, live', () => {
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
