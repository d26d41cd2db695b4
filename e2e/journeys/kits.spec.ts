import { expectAccessible, inEachLook } from '../accessibility';
import { expectTidyLayout } from '../layout';
import { expect, test } from '../test';

test('the page of the kits is accessible and fits narrow and wide windows', async ({ page }) => {
  await page.goto('/kit/');
  await inEachLook(page, async () => {
    await expectAccessible(page);
    await expectTidyLayout(page);
  });
});

test('the page of the kits has commands with the address of the portal, to copy', async ({
  page,
  context,
  mkopo,
}) => {
  const portal = mkopo.url.replace(mkopo.name + '.', '');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/kit/');
  const kit = page.getByRole('region', { name: 'Tests with Playwright' });
  await kit.getByRole('button', { name: 'Copy' }).click();
  await expect(kit.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await page.evaluate(async () => navigator.clipboard.readText())).toBe(
    `npm install --save-dev @playwright/test ${portal}/kit/mkopo-test.tgz`,
  );
  await expect(page.getByRole('region', { name: 'Slices' })).toContainText(`npx --package ${portal}/kit/`);
});
