import { expect, test } from '../test';
import { compose, containers, healthy } from './stack';

test.use({ expectedError: /^SliceFailure: |mfe-transactions.*mf-manifest\.json/ });

test('a slice that is down shows a panel with its name, and the rest works', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await compose('stop', 'mfe-transactions');
  const down = (await containers()).find(({ service }) => service === 'mfe-transactions');
  expect(down?.State.Status).toBe('exited');

  await test.step('its screens show which slice failed and why', async () => {
    await page.goto('/transactions');
    await expect(
      page.getByRole('heading', { level: 1, name: 'This part of the portal could not be loaded' }),
    ).toBeVisible({ timeout: 30_000 });
    await expect(page.getByText(/mfe-transactions 0\.1\.0\+/).first()).toBeVisible();
  });
  await test.step('the others work', async () => {
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await expect(page.getByText('24 loan(s) pending disbursement')).toBeVisible();
  });
  await test.step('once it is up again, its screens work', async () => {
    await compose('start', 'mfe-transactions');
    await healthy('mfe-transactions');
    await page.getByRole('link', { name: 'Transactions' }).click();
    await page.getByRole('button', { name: 'Retry' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
  });
});
