import { type Page } from '@playwright/test';
import { Portal } from 'mkopo-test';
import { expect, test } from '../test';
import {
  address,
  buildNewerLoans,
  consoleAddress,
  consoleCall,
  containers,
  healthy,
  lastLine,
  liveSlices,
  payThrough,
} from './stack';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

const versionsOf = (slices: Awaited<ReturnType<typeof liveSlices>>) =>
  Object.fromEntries(Object.entries(slices).map(([name, { version }]) => [name, version]));

/** Opens the list of pending loans. The dashboard, which has rows too, stays until the list is loaded. */
async function openPendingLoans(page: Page) {
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(heading(page, 'Dashboard')).toBeHidden();
}

test('one slice is replaced while loans are paid out: open pages offer Reload, and nothing else restarts', async ({
  page,
  mkopo,
}) => {
  const before = await containers();
  const live = versionsOf(await liveSlices());
  const loans = await buildNewerLoans();
  const failed: string[] = [];
  const { unanswered } = await payThrough(200, async () => {
    await mkopo.signIn(page, 'agent');
    await openPendingLoans(page);
    await expect(page.getByRole('row').nth(1)).toBeVisible();

    const replaced = new AbortController();
    const inUse = (async () => {
      while (!replaced.signal.aborted) {
        for (const path of ['/', '/slices.json', '/api/v1/openapi.json']) {
          const answer = await fetch(`${address}${path}`).catch(() => null);
          if (answer?.status !== 200) failed.push(`${path}: ${answer?.status ?? 'no answer'}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    await test.step('docker compose up --build --detach mfe-loans', async () => {
      const started = Date.now();
      await loans.deploy();
      await healthy('mfe-loans');
      const seconds = (Date.now() - started) / 1000;
      console.log(`   the slice is replaced ${seconds.toFixed(1)} s after its build`);
      expect(seconds).toBeLessThan(20);
    });
    replaced.abort();
    await inUse;
  });
  expect(failed, 'what did not answer meanwhile').toEqual([]);
  expect(unanswered, 'payouts without an answer').toEqual([]);
  expect(await lastLine('mfe-loans')).toBe(`mfe-loans ${loans.version} is live.`);
  expect(versionsOf(await liveSlices())).toEqual({ ...live, 'mfe-loans': loans.version });

  await test.step('the open page still works, and offers the new version', async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(heading(page, 'Transaction History')).toBeVisible();
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    // It reads the list of slices once a minute.
    await expect(page.getByText('A new version is available')).toBeVisible({ timeout: 90_000 });
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect(heading(page, loans.title)).toBeVisible();
  });

  await test.step('an override shows the build before in one tab', async () => {
    await page.goto(`/pending-loans?slice=mfe-loans@${live['mfe-loans']}`);
    await expect(page.getByRole('row').nth(1)).toBeVisible();
    await expect(heading(page, loans.title)).toBeHidden();
  });

  await test.step('only one container was replaced', async () => {
    const state = (all: typeof before, service: string) =>
      all
        .filter((container) => container.service === service)
        .map(({ Id, State, RestartCount }) => ({ Id, StartedAt: State.StartedAt, RestartCount }));
    const after = await containers();
    for (const { service } of before)
      if (service === 'mfe-loans') expect(state(after, service)).not.toEqual(state(before, service));
      else expect(state(after, service), service).toEqual(state(before, service));
  });
});

test('a build that is held is seen in a sandbox only', async ({ page, mkopo }) => {
  const before = versionsOf(await liveSlices());
  const loans = await buildNewerLoans();
  await loans.deploy({ MKOPO_HOLD: 'true' });
  await healthy('mfe-loans');
  expect(await lastLine('mfe-loans')).toBe(
    `mfe-loans ${loans.version} is held; ${before['mfe-loans']} is live.`,
  );
  expect(versionsOf(await liveSlices())).toEqual(before);

  const portal = await Portal.connect({
    url: address,
    consoleUrl: consoleAddress,
    consoleToken: process.env.MKOPO_E2E_CONSOLE_TOKEN ?? '',
  });
  const sandbox = await portal.makeSandbox();
  const activated = await sandbox.console.POST('/console/api/slices/{name}/activate', {
    params: { path: { name: 'mfe-loans' } },
    body: { version: loans.version },
  });
  expect(activated.response.status).toBe(200);
  await sandbox.signIn(page, 'agent');
  await page.goto(`${sandbox.url}/pending-loans`);
  await expect(heading(page, loans.title)).toBeVisible();
  await mkopo.signIn(page, 'agent');
  await openPendingLoans(page);
  await expect(page.getByRole('row').nth(1)).toBeVisible();
  await expect(heading(page, loans.title)).toBeHidden();
  await portal.removeSandbox(sandbox);
});

test.describe('a build that crashes', () => {
  test.use({ expectedError: /broken by this build/ });

  test('is taken back in its rollout', async ({ browser, mkopo }) => {
    const before = versionsOf(await liveSlices());
    const loans = await buildNewerLoans([
      [
        'src/pending-loans/PendingLoansPage.tsx',
        'export default function PendingLoansPage() {',
        "export default function PendingLoansPage() {\n  if (Date.now() > 0) throw new Error('broken by this build');",
      ],
    ]);
    await loans.deploy({ MKOPO_ROLLOUT: '98:10m,100' });
    await healthy('mfe-loans');
    expect(await lastLine('mfe-loans')).toBe(`mfe-loans ${loans.version} is rolled out to 98%.`);
    // At least 5 people have to see it fail, and some may belong to the 2% that do not get it.
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']) {
      const { email } = await mkopo.staff.open({ email: `${name}@mkopo.test` });
      const context = await browser.newContext({ baseURL: mkopo.url });
      const page = await context.newPage();
      await mkopo.signIn(page, email);
      await openPendingLoans(page);
      const crashed = heading(page, 'This page has stopped working');
      await expect(crashed.or(page.getByRole('row').nth(1)).first()).toBeVisible();
      // A page sends its reports when it is left.
      await page.goto('about:blank');
      await context.close();
    }
    const stateOf = async () => {
      const { slices, trail } = await consoleCall<{
        slices: { name: string; live: string; rollout: unknown }[];
        trail: { note: string | null }[];
      }>('GET', '/slices');
      const { live, rollout } = slices.find(({ name }) => name === 'mfe-loans') ?? {};
      return { live, rollout, note: trail[0]?.note };
    };
    await expect.poll(stateOf, { timeout: 60_000 }).toEqual({
      live: before['mfe-loans'],
      rollout: null,
      note: expect.stringMatching(/^rolled back: \d people saw it fail/) as unknown,
    });
    expect((await containers()).find(({ service }) => service === 'mfe-loans')?.State.Status).toBe('running');
  });
});
