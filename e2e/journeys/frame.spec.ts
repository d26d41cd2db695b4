import type { Page } from '@playwright/test';
import { changeTheme, expectAccessible } from '../accessibility';
import { expect, test } from '../test';

/** Stores a user as a sign-in would, with a role that sign-in never stores. */
const storeUser = (page: Page, role: string) =>
  page.evaluate((role) => {
    const user = { id: 1, username: 'Achieng', email: 'agent@mkopo.test', role };
    localStorage.setItem('user', JSON.stringify(user));
  }, role);

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const button = (page: Page, name: string) => page.getByRole('button', { name });

test('REQ-040..046 REQ-031 each stored role has its sidebar, and every page opens', async ({ page }) => {
  await page.goto('/login');
  for (const [role, entries] of [
    ['admin', ['Dashboard', 'Pending Loans', 'Transactions', 'Settings']],
    ['agent', ['Dashboard', 'Pending Loans', 'Transactions']],
    ['supervisor', ['Dashboard', 'Pending Loans', 'Transactions']],
    ['auditor', []],
  ] as const)
    await test.step(role, async () => {
      await storeUser(page, role);
      await page.goto('/settings');
      await expect(heading(page, 'Settings')).toBeVisible();
      const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
      await expect(links).toHaveText([...entries]);
    });
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 375, height: 700 } });

  test('the panel of the bell opens below the header, also with notices above it', async ({
    page,
    mkopo,
  }) => {
    await mkopo.signIn(page, 'agent');
    const bell = page.getByRole('button', { name: /^Notifications/ });
    await bell.click();
    const [panel, header] = [page.getByRole('region', { name: 'Notifications' }), page.getByRole('banner')];
    const [below, above] = await Promise.all([panel.boundingBox(), header.boundingBox()]);
    expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));
    expect(below?.x).toBeGreaterThanOrEqual(0);
    await bell.click();
    await expect(panel).toBeHidden();
  });

  test('REQ-036..039 REQ-048 the drawer keeps focus and blocks scrolling until it is closed', async ({
    page,
    mkopo,
  }) => {
    await mkopo.signIn(page, 'agent');
    const menu = page.getByRole('button', { name: 'Open menu' });
    const drawer = page.getByRole('dialog', { name: 'Menu' });
    const scrolled = () => page.evaluate(() => window.scrollY);
    await expect(drawer).toBeHidden();

    await test.step('it opens, and the page behind neither scrolls nor takes focus', async () => {
      await menu.click();
      await expect(drawer).toBeVisible();
      await expectAccessible(page);
      const before = await scrolled();
      await page.mouse.move(340, 400);
      await page.mouse.wheel(0, 400);
      for (let tab = 0; tab < 8; tab++) await page.keyboard.press('Tab');
      const isHeld = await page.evaluate(
        () => document.activeElement === document.body || !!document.activeElement?.closest('dialog'),
      );
      expect(isHeld).toBe(true);
      expect(await scrolled()).toBe(before);
    });

    await test.step('Escape closes it and restores focus', async () => {
      await page.keyboard.press('Escape');
      await expect(drawer).toBeHidden();
      await expect(menu).toBeFocused();
      await expect
        .poll(async () => {
          // Until its lists are there, the page is not taller than the window.
          await page.mouse.wheel(0, 400);
          return scrolled();
        })
        .toBeGreaterThan(0);
    });

    await test.step('a click outside closes it', async () => {
      await menu.click();
      await expect(drawer).toBeVisible();
      await page.mouse.click(340, 400);
      await expect(drawer).toBeHidden();
    });

    await test.step('navigating closes it', async () => {
      await menu.click();
      await drawer.getByRole('link', { name: 'Transactions' }).click();
      await expect(heading(page, 'Transaction History')).toBeFocused();
      await expect(drawer).toBeHidden();
    });
  });
});

test('REQ-032 REQ-035 the header stays at the top, and the sidebar next to the content', async ({
  page,
  mkopo,
}) => {
  await page.setViewportSize({ width: 768, height: 500 });
  await mkopo.signIn(page, 'agent');
  await expect
    .poll(async () => {
      // Until its lists are there, the page is not taller than the window.
      await page.mouse.wheel(0, 2000);
      return page.evaluate(() => window.scrollY);
    })
    .toBeGreaterThan(0);
  await expect(page.getByRole('banner')).toBeInViewport();
  await expect(page.getByRole('link', { name: 'Transactions' })).toBeInViewport();
  await expect(page.getByRole('complementary').getByText('Wanjiru')).toBeInViewport();
  await expect(page.getByRole('button', { name: 'Open menu' })).toBeHidden();
});

test('the portal works with the keyboard alone', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await test.step('skip to the content', async () => {
    await page.reload();
    await expect(heading(page, 'Dashboard')).toBeVisible();
    await page.keyboard.press('Tab');
    await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('main')).toBeFocused();
  });
  await test.step('the user menu, with arrow keys and Escape', async () => {
    const account = page.getByRole('button', { name: /^Account of/ });
    await account.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('menuitem', { name: 'Profile' })).toBeFocused();
    await page.keyboard.press('ArrowUp');
    await expect(page.getByRole('menuitem', { name: 'Logout' })).toBeFocused();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(account).toBeFocused();
  });
  await test.step('navigation focuses the heading and sets the window title', async () => {
    await page.getByRole('link', { name: 'Settings' }).focus();
    await page.keyboard.press('Enter');
    await expect(heading(page, 'Settings')).toBeFocused();
    await expect(page).toHaveTitle(/^Settings · Mkopo/);
  });
  await test.step('the bell, and Escape', async () => {
    const bell = page.getByRole('button', { name: /^Notifications/ });
    await bell.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'Notifications' })).toBeVisible();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await expect(bell).toBeFocused();
  });
});

test('REQ-005 every screen of the frame passes AA in each theme', async ({ page, context, mkopo }) => {
  const expectEachAccessible = async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      await test.step(colorScheme, async () => {
        await changeTheme(page, colorScheme);
        await expectAccessible(page);
      });
  };
  await page.goto('/login');
  await expect(heading(page, 'Sign in')).toBeVisible();
  await expectEachAccessible();
  await page.goto('/nowhere');
  await expect(heading(page, 'Page Not Found')).toBeVisible();
  await expectEachAccessible();
  await mkopo.signIn(page, 'agent');
  await page.goto('/profile');
  await button(page, 'Edit Profile').click();
  await expect(page.getByLabel('Full Name')).toBeFocused();
  await expectEachAccessible();
  await page.goto('/settings');
  await expect(heading(page, 'Settings')).toBeVisible();
  await page.getByRole('combobox', { name: 'Language' }).click();
  await expect(page.getByTitle('Swahili')).toBeVisible();
  await expectEachAccessible();
  await page.keyboard.press('Escape');
  await context.setOffline(true);
  await expect(page.getByText('You are offline.')).toBeVisible();
  await page.evaluate(() => {
    for (const type of ['success', 'error', 'info', 'warning', 'loading']) {
      const detail = { type, message: `A toast of ${type}`, duration: 0 };
      window.dispatchEvent(new CustomEvent('showNotification', { detail }));
    }
  });
  await expect(page.getByText('A toast of loading')).toBeVisible();
  await expectEachAccessible();
  await context.setOffline(false);
  await expect(page.getByText('You are offline.')).toBeHidden();
});

test('REQ-005 with reduced motion, nothing is animated', async ({ page, mkopo }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await mkopo.signIn(page, 'agent');
  await page.getByRole('button', { name: /^Account of/ }).click();
  await expect(page.getByRole('menuitem', { name: 'Logout' })).toBeVisible();
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(heading(page, 'Pending Disbursements')).toBeVisible();
  const longest = () =>
    page.evaluate(() =>
      Math.max(
        0,
        ...document.getAnimations().map(({ effect }) => Number(effect?.getComputedTiming().activeDuration)),
      ),
    );
  expect(await longest()).toBeLessThan(1);
  await page.route('**/api/v1/disbursements/pending', () => undefined);
  await page.reload();
  await expect(page.getByRole('main').getByRole('status', { name: 'Loading' })).toBeVisible();
  expect(await longest(), 'a spinner').toBeLessThan(1);
});

test.describe('a part of the shell that fails to load', () => {
  test.use({ expectedError: /Loading (CSS )?chunk/ });

  test('shows an error in place of the page, and loads with Reload', async ({ page, mkopo }) => {
    await mkopo.signIn(page, 'agent');
    await page.goto('/nowhere');
    const back = page.getByRole('button', { name: 'Back to Dashboard' });
    await expect(back).toBeVisible();
    await page.route('**/assets/**', (route) => route.abort());
    await back.click();
    await expect(heading(page, 'The portal could not be loaded')).toBeVisible();
    await expect(page.getByRole('main').getByRole('alert')).toHaveText(
      'ErrorA file of this page could not be loaded. Check your connection and reload the page.',
    );
    await expectAccessible(page);
    await page.unroute('**/assets/**');
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect(heading(page, 'Dashboard')).toBeVisible();
  });
});

test.describe('a part that was opened offline', () => {
  test.use({ expectedError: /^SliceFailure|Loading (CSS )?chunk/ });

  test('is loaded once the connection is back, and on the next visit', async ({ context, page, mkopo }) => {
    await mkopo.signIn(page, 'agent');
    const isOffline = page.getByText('You are offline.');
    const failed = heading(page, 'This part of the portal could not be loaded');
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    const details = page.getByRole('link', { name: 'View Details' }).first();
    await expect(details).toBeVisible();

    await context.setOffline(true);
    await expect(isOffline).toBeVisible();
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(failed).toBeVisible();
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await context.setOffline(false);
    await expect(isOffline).toBeHidden();
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(heading(page, 'Transaction History')).toBeVisible();

    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await context.setOffline(true);
    await details.click();
    await expect(failed).toBeVisible();
    await expectAccessible(page);
    await context.setOffline(false);
    await expect(heading(page, 'Loan Details')).toBeVisible();
  });
});
