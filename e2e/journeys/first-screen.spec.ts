import type { Page, Request } from '@playwright/test';
import { PASSWORD } from 'mkopo-test';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

const EMAIL = 'agent@mkopo.test';

/** Collects what moves on the page without the user, by its size. */
const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        shifts.push((entry as PerformanceEntry & { value: number }).value);
    }).observe({ type: 'layout-shift', buffered: true });
  });

const shifts = (page: Page) => page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);

const isPrefetch = (request: Request) => (request.headers()['sec-purpose'] ?? '').includes('prefetch');

/** The addresses that a page prefetches from now on. */
function prefetchesOf(page: Page) {
  const addresses: string[] = [];
  page.on('request', (request) => {
    if (isPrefetch(request)) addresses.push(request.url());
  });
  return addresses;
}

/** Collects the scripts and styles of antd that the page loads for itself, by their address. */
function watchAntd(page: Page) {
  const loaded: string[] = [];
  page.on('response', async (response) => {
    if (!/\.(js|css)$/.test(response.url()) || isPrefetch(response.request())) return;
    const text = await response.text().catch(() => '');
    if (/prefixCls|@layer antd/.test(text)) loaded.push(response.url());
  });
  return loaded;
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const email = (page: Page) => page.getByLabel('Email');

for (const [label, width, colorScheme] of [
  ['on a phone, dark', 375, 'dark'],
  ['on a desk', 1280, 'light'],
] as const)
  test.describe(label, () => {
    test.use({ viewport: { width, height: 800 }, colorScheme });

    test('public screens load nothing of antd, and nothing on them moves', async ({ page }) => {
      const antd = watchAntd(page);
      await watchShifts(page);
      for (const [address, name] of [
        ['/login', 'Sign in'],
        ['/password-reset', 'Enter your email'],
        ['/nowhere', 'Page Not Found'],
      ] as const)
        await test.step(address, async () => {
          await page.goto(address);
          await expect(heading(page, name)).toBeVisible();
          await page.waitForLoadState('networkidle');
          await expectTidyLayout(page);
          expect(await shifts(page)).toEqual([]);
        });
      expect(antd).toEqual([]);

      await test.step('the screens of signed-in users do', async () => {
        await page.goto('/transactions');
        await expect(email(page)).toBeFocused();
        await page.keyboard.type(EMAIL);
        await page.keyboard.press('Tab');
        await page.keyboard.type(PASSWORD);
        expect(antd).toEqual([]);
        await page.keyboard.press('Enter');
        await expect(heading(page, 'Transaction History')).toBeVisible();
        await expect.poll(() => antd.length).toBeGreaterThan(0);
      });
    });
  });

test('what the dashboard needs is fetched while somebody types, and not again', async ({ page }) => {
  const fetched = prefetchesOf(page);
  await page.goto('/login');
  await expect.poll(() => fetched.filter((url) => /\/dashboard\.[^/]+\.js$/.test(url)).length).toBe(1);
  await page.waitForLoadState('networkidle');
  await email(page).fill(EMAIL);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  const again: Request[] = [];
  page.on('requestfinished', (request) => {
    if (fetched.includes(request.url())) again.push(request);
  });
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Dashboard')).toBeVisible();
  const sizes = await Promise.all(again.map((request) => request.sizes()));
  expect(sizes.filter(({ responseBodySize }) => responseBodySize > 0)).toEqual([]);
});

test('what the dashboard needs is not fetched before the form is there', async ({ page }) => {
  const fetched = prefetchesOf(page);
  let before: string[] | undefined;
  await page.route(/\/login\.[^/]+\.js$/, async (route) => {
    // When this resolves, the page has run its own idle callbacks.
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    before ??= [...fetched];
    await route.continue();
  });
  await page.goto('/login');
  await expect(email(page)).toBeFocused();
  await expect.poll(() => fetched.length).toBeGreaterThan(0);
  expect(before).toEqual([]);
});

test.describe('what a screen reads first is requested beside its code, once', () => {
  /** Holds the code of the dashboard back until its data was requested; without that, it never comes. */
  async function holdCode(page: Page) {
    const read: string[] = [];
    let release: () => void = () => undefined;
    const isRead = new Promise<void>((resolve) => (release = resolve));
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!/\/disbursement(s\/pending|-records)$/.test(pathname)) return;
      read.push(pathname);
      if (read.length === 2) release();
    });
    await page.route(/\/dashboard\.[^/]+\.js$/, async (route) => {
      if (!isPrefetch(route.request())) await isRead;
      await route.continue();
    });
    return read;
  }

  const BOTH = ['/api/v1/disbursement-records', '/api/v1/disbursements/pending'];

  test('when the page is loaded', async ({ page, mkopo }) => {
    await mkopo.signIn(page, 'agent');
    const read = await holdCode(page);
    await page.reload();
    await expect(page.getByRole('table')).toBeVisible();
    expect(read.sort()).toEqual(BOTH);
  });

  test('after sign-in', async ({ page, mkopo }) => {
    const read = await holdCode(page);
    await mkopo.signIn(page, 'agent');
    await expect(page.getByRole('table')).toBeVisible();
    expect(read.sort()).toEqual(BOTH);
  });
});

test('a signed-in user sees no form on the way to the dashboard', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector('form')) document.documentElement.dataset['form'] = 'seen';
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto('/login');
  await expect(heading(page, 'Dashboard')).toBeVisible();
  await expect(page.locator('html')).not.toHaveAttribute('data-form');
});
