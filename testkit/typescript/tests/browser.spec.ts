import { writeFileSync } from 'node:fs';
import { expect, test } from 'mkopo-test';

test('whoever was led to sign-in is signed in at the screen that they had asked for', async ({
  mkopo,
  page,
}) => {
  await page.goto('/transactions');
  await expect(page).toHaveURL(/\/login$/);
  await mkopo.signIn(page, 'agent');
  await expect(page).toHaveURL(/\/transactions$/);
  await mkopo.clock.advance('2d');
  await page.reload();
  await expect(page).toHaveURL(/\/login$/);
  await mkopo.signIn(page, 'agent');
  await expect(page).toHaveURL(/\/transactions$/);
});

test('the code of the screen is in the outbox', async ({ mkopo, page }) => {
  await page.goto('/password-reset');
  await page.getByLabel('Email').fill('agent@mkopo.test');
  await page.getByRole('button', { name: 'Send Reset Code' }).click();
  expect(await mkopo.outbox.code({ to: '+254711000003' })).toMatch(/^\d{6}$/);
});

test.describe('with another start', () => {
  test.use({ start: { seed: 'empty', now: '2026-11-14T09:00:00Z', frozen: true } });

  test('the portal begins there', async ({ mkopo, page }) => {
    await mkopo.signIn(page, 'supervisor');
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await expect(page.getByText('0 loan(s) pending disbursement')).toBeVisible();
    expect(await mkopo.clock.now()).toEqual(new Date('2026-11-14T09:00:00Z'));
  });
});

test('calls of Playwright itself reach the sandbox', async ({ mkopo, page, request }) => {
  await mkopo.faults.add({ path: '/api/v1/auth/me', kind: 'status', status: 418 });
  expect((await request.get('/api/v1/auth/me')).status()).toBe(418);
  expect((await page.request.get(`${mkopo.url}/api/v1/auth/me`)).status()).toBe(418);
});

test('a browser answers from the HAR file of a sandbox', async ({ mkopo, page }, testInfo) => {
  await mkopo.portal.GET('/api/v1/auth/me');
  const file = testInfo.outputPath('traffic.har');
  writeFileSync(file, JSON.stringify(await mkopo.traffic.har()));
  await mkopo.traffic.clear();
  await page.routeFromHAR(file, { url: '**/api/v1/auth/me' });
  const answer = await page.goto('/api/v1/auth/me');
  expect(answer?.status()).toBe(401);
  expect(await answer?.json()).toMatchObject({ code: 'no_session' });
  expect(await mkopo.traffic.calls({ path: '/auth/me' })).toEqual([]);
});
