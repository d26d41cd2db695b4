import type { Locator } from '@playwright/test';
import { expect, test } from '../test';

// Toasts stay: on a busy machine, a page may take longer to open than a toast is shown.
test.beforeEach(({ page }) =>
  page.addInitScript(() =>
    window.addEventListener('showNotification', (event) =>
      Object.assign((event as CustomEvent<object>).detail, { duration: 0 }),
    ),
  ),
);

for (const [width, height] of [
  [1280, 800],
  [375, 812],
] as const)
  test.describe(`${width} px`, () => {
    test.use({ viewport: { width, height } });

    test('the welcome toast covers neither a loan that is opened at once nor its dialog, and is not printed', async ({
      page,
      mkopo,
    }) => {
      await mkopo.signIn(page, 'agent');
      const toast = page.getByText(/Login successful! Welcome back to/);
      await expect(toast).toBeVisible();
      const covers = async (kept: Locator) => {
        const box = (await kept.boundingBox())!;
        const over = (await toast.locator('..').boundingBox())!;
        return (
          over.y < box.y + box.height &&
          over.y + over.height > box.y &&
          over.x < box.x + box.width &&
          over.x + over.width > box.x
        );
      };
      await page.getByRole('link', { name: 'View', exact: true }).first().click();
      const action = page.getByRole('button', { name: 'Disburse Loan' });
      await expect(action).toBeVisible();
      await expect(toast).toBeVisible();
      for (const kept of [action, page.locator('h1')]) await expect.poll(() => covers(kept)).toBe(false);
      await action.click();
      const dialog = page.getByRole('dialog');
      await expect(dialog).toBeVisible();
      await expect.poll(() => covers(dialog)).toBe(false);
      await page.emulateMedia({ media: 'print' });
      expect(await toast.evaluate((element) => element.checkVisibility())).toBe(false);
    });
  });
