import type { Page } from '@playwright/test';
import { changeTheme } from '../accessibility';
import { signInHere, untilDrawn } from '../acts';
import { expect, test } from '../test';

/** A focused control, and what shows that it has the focus. */
interface Focused {
  control: string;
  /** Nothing of it is in sight. */
  isHidden: boolean;
  outline: string;
  color: string;
}

/** Runs in the page: the control that has the focus, or the frame around it that shows it. */
function focusedControl(): Focused | null {
  const active = document.activeElement;
  if (!active || active === document.body) return null;
  const framed = active.closest('[class*="_framed"], .ant-select');
  const shown = framed ?? active;
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(shown);
  const { left, top, width, height } = shown.getBoundingClientRect();
  const parts = [0.05, 0.25, 0.5, 0.75, 0.95];
  const isHidden = !parts.some((across) =>
    parts.some((down) => {
      const hit = document.elementFromPoint(left + width * across, top + height * down);
      return hit && (shown.contains(hit) || hit.contains(shown));
    }),
  );
  const name = active.getAttribute('aria-label') ?? active.textContent.trim();
  return {
    control: `${active.tagName} ${name.slice(0, 40)}`,
    outline: `${outlineStyle} ${outlineWidth}`,
    color: outlineColor,
    isHidden,
  };
}

/** Tabs through the page from its start, until the focus leaves it or comes round. */
async function tabThrough(page: Page): Promise<Focused[]> {
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  return tabOn(page, 'Tab');
}

async function tabOn(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<Focused[]> {
  const found: Focused[] = [];
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(focusedControl);
    if (!focused) break;
    found.push(focused);
  }
  return found;
}

async function expectRings(page: Page, color: string, atLeast: number) {
  const found = await tabThrough(page);
  expect(found.length, 'controls').toBeGreaterThanOrEqual(atLeast);
  expect(found.filter(({ outline }) => outline !== 'solid 2px')).toEqual([]);
  expect([...new Set(found.map((focused) => focused.color))]).toEqual([color]);
}

const [LIGHT, DARK] = ['rgb(9, 88, 217)', 'rgb(110, 161, 255)'];

test('every control before sign-in shows the same focus ring', async ({ page }) => {
  for (const address of ['/login', '/password-reset']) {
    await page.goto(address);
    await expect(page.locator('h1')).toBeVisible();
    await expectRings(page, LIGHT, 2);
  }
});

test('every control shows the same focus ring', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await test.step('dashboard', async () => {
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
    await expectRings(page, LIGHT, 12);
  });
  for (const address of ['/pending-loans', '/transactions', '/reports', '/settings', '/profile'])
    await test.step(address, async () => {
      await page.goto(address);
      await expect(page.locator('main h1')).toBeVisible();
      await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0);
      await expectRings(page, LIGHT, 8);
    });
  // One rule draws every ring.
  await test.step('loan, light and dark', async () => {
    await page.goto('/pending-loans');
    await page.getByRole('link', { name: 'View Details' }).first().click();
    await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeVisible();
    await expectRings(page, LIGHT, 8);
    await changeTheme(page, 'dark');
    await expectRings(page, DARK, 8);
  });
  await test.step('dialog', async () => {
    await page.getByRole('button', { name: 'Disburse Loan' }).click();
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    const order: string[] = [];
    for (const key of ['Tab', 'Tab', 'Tab', 'Shift+Tab']) {
      await page.keyboard.press(key);
      const focused = await page.evaluate(focusedControl);
      expect(focused).toMatchObject({ outline: 'solid 2px', color: DARK });
      order.push(focused?.control ?? '');
    }
    expect(order).toEqual([
      'BUTTON Confirm Disbursement',
      'BUTTON Cancel',
      'BUTTON Confirm Disbursement',
      'BUTTON Cancel',
    ]);
  });
});

test.describe('with notices above it and a story below it', () => {
  test.skip(Boolean(process.env.MKOPO_E2E_URL), 'a deployed portal need not have sandboxes');
  test.use({ story: 'first-payout' });

  test.beforeEach(async ({ page, mkopo }) => {
    await mkopo.signIn(page, 'agent');
    await page.goto('/pending-loans');
    await expect(page.getByRole('link', { name: 'View Details' }).first()).toBeVisible();
    await expect(page.getByText('Story, step 2 of 3')).toBeVisible();
  });

  /** Adds a notice, and a sentence to the story. */
  async function goOffline(page: Page) {
    await page.context().setOffline(true);
    await expect(page.getByText('You are offline.')).toBeVisible();
    await expect(page.getByText('The story could not be read.')).toBeVisible();
    await untilDrawn(page);
  }

  test('a story that grows does not hide the control that has the focus', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole('link', { name: 'View Details' }).first().focus();
    const scrolledByTab = async () => {
      await page.keyboard.press('Tab');
      await untilDrawn(page);
      return page.evaluate(() => scrollY);
    };
    // The first control that has to be scrolled above the story is close to it.
    await expect.poll(scrolledByTab, { intervals: [0] }).toBeGreaterThan(0);
    const focused = await page.evaluate(focusedControl);
    expect(focused).toMatchObject({ control: 'A View Details', isHidden: false });
    await goOffline(page);
    expect(await page.evaluate(focusedControl)).toEqual(focused);
  });

  test('no control that gets the focus is hidden', async ({ page }) => {
    await goOffline(page);
    for (const [width, height] of [
      [1280, 720],
      [320, 640],
      // A window of 1280 x 1024 at a zoom of 400%.
      [320, 256],
    ] as const)
      await test.step(`${width} x ${height}`, async () => {
        await page.setViewportSize({ width, height });
        await untilDrawn(page);
        const found = [...(await tabThrough(page)), ...(await tabOn(page, 'Shift+Tab'))];
        expect(found.length).toBeGreaterThan(70);
        expect(found.filter(({ isHidden }) => isHidden)).toEqual([]);
      });
  });
});

test.describe('in forced colours', () => {
  test.use({ contextOptions: { forcedColors: 'active' } });

  test('every control shows a focus ring', async ({ page }) => {
    await page.goto('/login');
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    const found = await tabThrough(page);
    await signInHere(page);
    await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
    found.push(...(await tabThrough(page)));
    expect(found.length).toBeGreaterThan(12);
    expect(found.filter(({ outline }) => outline !== 'solid 2px')).toEqual([]);
  });

  test('switches, the current page, and the edges of a list and of a dialog can be seen', async ({
    page,
    mkopo,
  }) => {
    await mkopo.signIn(page, 'admin');
    const background = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).backgroundColor);
    await page.goto('/settings');
    await expect(page.getByRole('switch').first()).toBeVisible();
    expect(await background('[role=switch][aria-checked=true]')).not.toBe(
      await background('[role=switch][aria-checked=false]'),
    );
    expect(await background('nav [aria-current=page]')).not.toBe(await background('body'));
    await page.goto('/pending-loans');
    await page.getByRole('combobox').first().press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect(page.locator('.ant-select-dropdown')).toHaveCSS('border-style', 'solid');
    const options = page.locator('.ant-select-item-option');
    const backgrounds = await options.evaluateAll((all) =>
      all.map((option) => [
        option.classList.contains('ant-select-item-option-active'),
        getComputedStyle(option).backgroundColor,
      ]),
    );
    const [active, ...others] = [true, false].map(
      (isActive) => backgrounds.find(([is]) => is === isActive)?.[1],
    );
    expect(active).toBeDefined();
    expect(others).not.toContain(active);

    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'View Details' }).first().click();
    await page.getByRole('button', { name: 'Disburse Loan' }).click();
    await expect(page.locator('.ant-modal-container')).toHaveCSS('border-width', '2px');
  });

  test.describe('live screens', () => {
    test.skip(Boolean(process.env.MKOPO_E2E_URL), 'these start a portal of their own');
    test.use({ settings: { MKOPO_SCREENS: 'live' } });

    test('the pressed button and the bars of a report can be seen', async ({ page, mkopo }) => {
      await mkopo.signIn(page, 'agent');
      await page.goto('/reports?period=year');
      await expect(page.locator('figure')).toBeVisible();
      const looks = (selector: string, property: 'backgroundColor' | 'outlineStyle') =>
        page
          .locator(selector)
          .first()
          .evaluate((element, name) => getComputedStyle(element)[name], property);
      expect(await looks('[aria-pressed=true]', 'backgroundColor')).not.toBe(
        await looks('[aria-pressed=false]', 'backgroundColor'),
      );
      const behind = await looks('body', 'backgroundColor');
      const [completed, failed] = [
        await looks('figure [class*="_completed"]', 'backgroundColor'),
        await looks('figure [class*="_failed"]', 'backgroundColor'),
      ];
      expect(new Set([behind, completed, failed]).size, `${behind}, ${completed}, ${failed}`).toBe(3);
      expect(await looks('figure [class*="_completed"]', 'outlineStyle')).toBe('solid');
      const found = await tabThrough(page);
      expect(found.length).toBeGreaterThan(12);
      expect(found.filter(({ outline }) => outline !== 'solid 2px')).toEqual([]);
    });
  });
});
