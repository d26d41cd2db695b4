import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Request } from '@playwright/test';
import { type Call, type Mkopo, PASSWORD } from 'mkopo-test';
import { expect, test } from '../test';

// One after the other: the last test asks which recipes the others have run.
test.describe.configure({ mode: 'serial' });

/** The shell command of each recipe of docs/console.md, by title. */
const COMMANDS = new Map(
  readFileSync(join(import.meta.dirname, '../../docs/console.md'), 'utf8')
    .split('\n## ')
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', /```sh\n(.*?)\n```/s.exec(section)?.[1] ?? ''] as const),
);

/** The recipes that are not run here, and why. */
const NOT_IN_A_BROWSER: Record<string, string> = {
  'Let a team deploy its slice':
    'needs the token of the operator, and the portal shows nothing of it until a build is published',
};

type Har = Awaited<ReturnType<Mkopo['traffic']['har']>>;

const ran = new Set<string>();

/** Runs a recipe exactly as it is written, for the sandbox of the test; returns what it prints. */
function recipe(title: string, { consoleUrl, token }: Mkopo): unknown {
  const command = COMMANDS.get(title);
  if (!command) throw new Error(`${title} has no command`);
  ran.add(title);
  const env = { ...process.env, CONSOLE: new URL(consoleUrl ?? '').origin, TOKEN: token };
  const printed = execFileSync('bash', ['-c', command], { encoding: 'utf8', env, stdio: 'pipe' });
  return printed ? JSON.parse(printed) : null;
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

test('what the recipes do to payouts is what the portal shows', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  const loan = await test.step('Approve a loan to pay out', async () => {
    const [made] = recipe('Approve a loan to pay out', mkopo) as { loan_id: string }[];
    if (!made) throw new Error('The recipe has made no loan');
    await page.goto('/pending-loans');
    await page.getByRole('searchbox').fill(made.loan_id);
    const row = page.getByRole('row', { name: /Wanjiku/ });
    await expect(row).toContainText('KES 25,000');
    await row.getByRole('link', { name: 'View Details' }).click();
    return made;
  });
  await test.step('Make the next payout fail', async () => {
    recipe('Make the next payout fail', mkopo);
    await button(page, 'Disburse Loan').click();
    await button(page, 'Confirm Disbursement').click();
    await expect(dialog(page, 'Disbursement Failed').getByRole('alert')).toContainText(/balance/i);
  });
  await test.step('See which requests were made', () => {
    const calls = recipe('See which requests were made', mkopo) as Call[];
    expect(calls.map(({ path, status }) => [path, status])).toEqual([
      [`/api/v1/disbursements/${loan.loan_id}/disburse`, 422],
    ]);
  });
  await test.step('Lose the answer', async () => {
    recipe('Lose the answer', mkopo);
    const payments: Request[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/disburse')) payments.push(request);
    });
    const lost = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/disburse'));
    await button(page, 'Try Again').click();
    expect((await lost).failure()?.errorText, 'what the page is told').toMatch(/^net::ERR_/);
    await expect(dialog(page, 'Disbursement Successful')).toBeVisible();
    await expect(page.getByText('Disbursed', { exact: true })).toBeVisible();
    await expect(button(page, 'Disburse Loan')).toBeHidden();
    const payouts = recipe('See how a payout ended', mkopo) as Record<string, unknown>[];
    const own = payouts.filter(({ loan_id }) => loan_id === loan.loan_id);
    expect(own.map(({ status }) => status)).toEqual(['COMPLETED', 'FAILED']);
    // A browser that repeats a call by itself tells the page nothing of it.
    expect(payments).toHaveLength(1);
    const key = await payments[0]?.headerValue('idempotency-key');
    const { log } = recipe('Keep what happened for a bug report', mkopo) as Har;
    const arrived = log.entries.filter(({ request }) => request.headers.some(({ value }) => value === key));
    expect(arrived.map(({ request, response }) => [request.method, response.status])).toEqual([['POST', 0]]);
  });
  await test.step('Ask whether every shilling is accounted for', () => {
    expect(recipe('Ask whether every shilling is accounted for', mkopo)).toMatchObject({ ok: true });
  });
  await test.step('Make a payout of the past', async () => {
    recipe('Make a payout of the past', mkopo);
    await page.goto('/transactions?status=failed');
    await page.getByRole('button', { name: 'Last page' }).click();
    await expect(page.getByRole('row', { name: /15 Jan 2025.*Failed/ })).toBeVisible();
  });
});

test('what the recipes do to calls is what the portal shows', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  await test.step('Make a call slow', async () => {
    recipe('Make a call slow', mkopo);
    const answered = page.waitForResponse('**/api/v1/disbursements/pending');
    await page.goto('/pending-loans');
    await expect(page.getByRole('main').getByRole('status', { name: 'Loading' })).toBeVisible();
    await expect(page.getByRole('table')).toBeVisible();
    const { requestStart, responseStart } = (await answered).request().timing();
    expect(responseStart - requestStart).toBeGreaterThanOrEqual(3000);
  });
  await test.step('Fail three calls in ten: the portal reads again, and shows the history', async () => {
    recipe('Fail three calls in ten', mkopo);
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/disbursement-records')) statuses.push(response.status());
    });
    for (let visit = 0; visit < 5 && !statuses.includes(503); visit += 1) {
      await page.goto('/transactions');
      await expect(page.getByRole('table')).toBeVisible();
    }
    expect(statuses).toContain(503);
    expect(statuses.at(-1)).toBe(200);
  });
  await test.step('End all faults', async () => {
    recipe('End all faults', mkopo);
    const answered = page.waitForResponse('**/api/v1/disbursements/pending');
    await page.goto('/pending-loans');
    await expect(page.getByRole('table')).toBeVisible();
    const { requestStart, responseStart } = (await answered).request().timing();
    expect(responseStart - requestStart).toBeLessThan(3000);
  });
  await test.step('Save and Restore', async () => {
    const count = page.getByText(/^\d+ loan\(s\) pending disbursement$/);
    const before = await count.textContent();
    recipe('Save', mkopo);
    recipe('Approve a loan to pay out', mkopo);
    await page.reload();
    await expect(count).not.toHaveText(before ?? '');
    recipe('Restore', mkopo);
    await page.reload();
    await expect(count).toHaveText(before ?? '');
  });
  await test.step('Reset', async () => {
    recipe('Reset', mkopo);
    await page.reload();
    await expect(heading(page, 'Sign in')).toBeVisible();
  });
});

test('what the recipes do to people is what the portal shows', async ({ page, mkopo }) => {
  const expectExpired = async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(page.getByText('Your session expired. Please log in again.')).toBeVisible();
    await expect(heading(page, 'Sign in')).toBeVisible();
  };
  const fillIn = async () => {
    await page.getByLabel('Email').fill('agent@mkopo.test');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  };
  await test.step('Open an account', async () => {
    recipe('Open an account', mkopo);
    await mkopo.signIn(page, 'grace@example.com', 'Kahawa-2026');
    await expect(page.getByRole('button', { name: 'Account of Grace' })).toBeVisible();
  });
  await test.step('See who did what', () => {
    const events = recipe('See who did what', mkopo) as { kind: string }[];
    expect(events.map(({ kind }) => kind)).toContain('signed_in');
  });
  await test.step('Expire every session', async () => {
    recipe('Expire every session', mkopo);
    await expectExpired();
  });
  await test.step('Read the code in a test', async () => {
    await fillIn();
    await button(page, 'Sign in with OTP').click();
    await expect(page.getByLabel('Verification Code')).toBeFocused();
    const [message] = recipe('Read the code in a test', mkopo) as { code: string }[];
    await page.keyboard.type(message?.code ?? '');
    await button(page, 'Verify & Sign in').click();
    await expect(heading(page, 'Transaction History')).toBeVisible();
  });
  await test.step('Jump to tomorrow, and back', async () => {
    await page.goto('/');
    const date = page.getByRole('main').getByText(/^\w+, \d+ \w+ \d{4}$/);
    const today = (await date.textContent()) ?? '';
    recipe('Jump to tomorrow', mkopo);
    await expectExpired();
    await fillIn();
    await button(page, 'Sign in').click();
    await expect(heading(page, 'Transaction History')).toBeVisible();
    await page.goto('/');
    await expect(date).not.toHaveText(today);
    recipe('Go back to the real time', mkopo);
    await page.reload();
    await expect(date).toHaveText(today);
  });
});

test('every recipe of the page is run in a browser, or has a reason why not', () => {
  const titles = [...COMMANDS.keys()];
  expect(titles.filter((title) => !ran.has(title))).toEqual(Object.keys(NOT_IN_A_BROWSER));
});
