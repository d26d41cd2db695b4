import type { Page } from '@playwright/test';
import { type Mkopo, startPortal } from 'mkopo-test';
import { expectAccessible, inEachLook } from '../accessibility';
import { confirmPayout, openLoan } from '../acts';
import { expectTidyLayout } from '../layout';
import { type Receiver, startReceiver, valuesOf } from '../receiver';
import { expect, test } from '../test';

// A reset keeps traces, so a sandbox that other tests have used has those of their payouts, too.
test.use({ sandboxPer: 'test' });

const withReceiver = test.extend<{ receiver: Receiver }>({
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    receiver.stop();
  },
  settings: async ({ receiver }, use) => use(receiver.settings),
});

// A portal in front of another server, which pays out.
const withTwoServers = withReceiver.extend({
  settings: async ({ receiver }, use) => {
    const exporting = receiver.settings;
    const provider = await startPortal({ ...exporting, OTEL_SERVICE_NAME: 'provider' });
    const own = { OTEL_SERVICE_NAME: 'portal', MKOPO_DEMO: 'false', MKOPO_PROVIDER_URL: provider.url };
    await use({ ...exporting, ...own });
    await provider.stop();
  },
  checkInvariant: false,
});

/** Signs in and pays the first loan out that waits. */
async function payOut(page: Page, mkopo: Mkopo) {
  await mkopo.signIn(page, 'agent');
  await openLoan(page);
  await confirmPayout(page);
  await expect(page.getByText(/has been successfully disbursed to/)).toBeVisible();
}

withReceiver(
  'a payout is one trace from the click to the last statement, and no span has a value of the data',
  async ({ page, mkopo, receiver }) => {
    await payOut(page, mkopo);

    const act = (name: string) => receiver.spans().find((span) => span.name === name);
    await expect.poll(() => act('confirm a payout'), { timeout: 15_000 }).toBeDefined();
    for (const name of ['sign in', 'open a screen']) await expect.poll(() => act(name), name).toBeDefined();
    const click = act('confirm a payout');
    const ofClick = () => receiver.spans().filter((span) => span.traceId === click?.traceId);
    await expect.poll(() => ofClick().map((span) => span.name)).toContain('settle');
    const request = ofClick().find((span) => span.name.startsWith('POST '));
    expect(request?.name).toBe('POST /api/v1/disbursements/{loan_id}/disburse');
    expect(request?.parentSpanId).toBe(click?.spanId);
    expect(request?.service).toBe('mkopo');
    expect(ofClick().map((span) => span.name)).toEqual(
      expect.arrayContaining(['claim', 'ask mobile money', 'settle', 'INSERT', 'commit']),
    );

    const values = await valuesOf(mkopo);
    expect(values.length).toBeGreaterThan(60);
    expect(receiver.findings(values)).toEqual([]);
  },
);

withTwoServers(
  'a payout that another server makes is one trace of both',
  async ({ page, mkopo, receiver }) => {
    await payOut(page, mkopo);
    const click = () => receiver.spans().find((span) => span.name === 'confirm a payout');
    await expect.poll(click, { timeout: 15_000 }).toBeDefined();
    const of = (service: string) =>
      receiver.spans().filter((span) => span.traceId === click()?.traceId && span.service === service);
    await expect.poll(() => of('provider').map((span) => span.name)).toContain('settle');
    const request = of('provider').find((span) => span.name.startsWith('POST '));
    expect(of('provider').map((span) => span.name)).toEqual(
      expect.arrayContaining(['claim', 'ask mobile money', 'INSERT', 'commit']),
    );
    await expect.poll(() => of('portal').map((span) => span.spanId)).toContain(request?.parentSpanId);
    await expect.poll(() => of('portal').map((span) => span.parentSpanId)).toContain(click()?.spanId);
  },
);

test('a payout is found on the console, with its steps and statements', async ({ page, mkopo }) => {
  test.skip(Boolean(process.env.MKOPO_E2E_EXPORT), 'the traces are exported');
  await payOut(page, mkopo);
  const console = await page.context().newPage();
  await console.goto(`${mkopo.consoleUrl}?token=${mkopo.token}`);
  await console.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Traces' }).click();
  await expect(console.getByRole('heading', { level: 1, name: 'Traces' })).toBeVisible();
  await console.getByRole('link', { name: 'confirm a payout' }).first().click();
  const trace = console.getByRole('region', { name: 'Trace: confirm a payout' });
  for (const step of [/disburse 200$/, /Level \d+: claim/, /Level \d+: commit/])
    await expect(trace.getByRole('cell', { name: step }).first()).toBeVisible();
  await trace.getByText('INTO payout').first().click();
  await expect(trace.getByLabel('Statement').filter({ hasText: 'INSERT INTO payout' }).first()).toBeVisible();
  await inEachLook(console, async () => {
    await expectAccessible(console);
    await expectTidyLayout(console);
  });
});
