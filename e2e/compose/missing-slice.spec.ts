import { expect, test } from '../test';
import { compose, containers, healthy } from './stack';

test('the portal starts without the container of a slice, and has the slice once there is one', async ({
  page,
  mkopo,
}) => {
  expect((await containers()).map(({ service }) => service)).not.toContain('mfe-transactions');
  await mkopo.signIn(page, 'agent');
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(page.getByText('24 loan(s) pending disbursement')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Transactions' })).toBeHidden();

  await compose('up', '--detach', 'mfe-transactions');
  await healthy('mfe-transactions');
  await page.reload();
  await page.getByRole('link', { name: 'Transactions' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();

  await test.step('a container that has published its build is not needed', async () => {
    await compose('stop', 'mfe-transactions');
    await page.reload();
    await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
    await compose('start', 'mfe-transactions');
    await healthy('mfe-transactions');
  });
});
