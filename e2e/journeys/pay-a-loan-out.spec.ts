import { expectAccessible } from '../accessibility';
import { expect, test } from '../test';

test('REQ-229 REQ-241 REQ-267 sign in, pay a loan out, see it in history, sign out', async ({
  page,
  mkopo,
}) => {
  await test.step('sign in', async () => {
    await page.goto('/');
    await expect(page).toHaveURL(/\/login$/);
    await expectAccessible(page);
    await mkopo.signIn(page, 'agent');
    await expectAccessible(page);
  });

  const customer = await test.step('open the first pending loan', async () => {
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await expect(page.getByText('24 loan(s) pending disbursement')).toBeVisible();
    await expectAccessible(page);
    await page
      .getByRole('link', { name: /View Details/ })
      .first()
      .click();
    await expect(page.getByRole('heading', { level: 1, name: 'Loan Details' })).toBeVisible();
    await expect(page.getByText('Approved, Pending Disbursement')).toBeVisible();
    await expectAccessible(page);
    return 'Mutua Simiyu';
  });

  const reference = await test.step('pay it out', async () => {
    await page.getByRole('button', { name: 'Disburse Loan' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm Loan Disbursement' });
    await expect(dialog).toContainText(
      `You are about to disburse KES 25,000 to ${customer} via the mobile-money service.`,
    );
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await expectAccessible(page);
    const success = page.getByRole('dialog', { name: 'Disbursement Successful' });
    // It closes by itself, so it is waited for before the click.
    const [text] = await Promise.all([
      success.getByText(/Transaction ID:/).textContent(),
      dialog.getByRole('button', { name: 'Confirm Disbursement' }).click(),
    ]);
    await expect(success).toBeHidden();
    await expect(page.getByText(`The loan has been successfully disbursed to ${customer}.`)).toBeVisible();
    await expect(page.locator('[data-notice]')).toBeFocused();
    await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
    await expectAccessible(page);
    return (text ?? '').replace('Transaction ID:', '').trim();
  });
  expect(reference).toMatch(/^[A-Z]{2}[1-9A-V][A-Z0-9]{7}$/);

  await test.step('a reload and Back show the loan as disbursed', async () => {
    await page.reload();
    await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Disbursement Information' })).toContainText(reference);
    await expect(page.getByRole('button', { name: 'Disburse Loan' })).toBeHidden();
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await expect(page.getByText('23 loan(s) pending disbursement')).toBeVisible();
  });

  await test.step('see it in the history', async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    const row = page.getByRole('row', { name: new RegExp(reference) });
    await expect(row).toContainText(customer);
    await expect(row).toContainText('Successful');
    await expectAccessible(page);
  });

  await test.step('sign out', async () => {
    await page.getByRole('button', { name: /Wanjiru/ }).click();
    await page.getByRole('menuitem', { name: 'Logout' }).click();
    await expect(page).toHaveURL(/\/login$/);
    await page.goBack();
    await expect(page).toHaveURL(/\/login$/);
  });
});
