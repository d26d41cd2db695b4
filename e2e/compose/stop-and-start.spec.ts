import { expect, test } from '../test';
import { address, buildNewerLoans, compose, consoleCall, healthy, lastLine, liveSlices } from './stack';

test('a build that is deployed while the server is down is published once it is up', async () => {
  const loans = await buildNewerLoans();
  await compose('stop', 'server');
  await loans.deploy();
  await expect
    .poll(() => lastLine('mfe-loans'))
    .toMatch(RegExp(`^mfe-loans ${loans.version} waits: http://provider:8080 can't be reached: .*\\.$`));
  await compose('start', 'server');
  await healthy('server');
  await healthy('mfe-loans');
  expect(await lastLine('mfe-loans')).toBe(`mfe-loans ${loans.version} is live.`);
  expect((await liveSlices())['mfe-loans']?.version).toBe(loans.version);
});

test('a slice’s container that restarts publishes nothing again, and no log has a deploy token', async () => {
  const before = await consoleCall('GET', '/slices');
  await compose('restart', 'mfe-auth');
  await healthy('mfe-auth');
  expect(await lastLine('mfe-auth')).toMatch(/ is there already; it is live\.$/);
  expect(await consoleCall('GET', '/slices')).toEqual(before);
  const logs = await compose('logs', '--no-log-prefix');
  for (const slice of ['mfe-shell', 'mfe-auth', 'mfe-loans', 'mfe-transactions']) {
    const token = await compose('exec', '-T', slice, 'cat', '/deploy-token/token');
    expect(token.length).toBeGreaterThan(16);
    expect(logs).not.toContain(token);
  }
});

test('nothing is lost when the whole stack stops and starts', async ({ mkopo }) => {
  const agent = await mkopo.sessions.open('agent');
  const loan = await mkopo.loans.approve({ amount: 25_000 });
  const payout = await agent.payOut(loan);
  const known = async () => ({
    slices: await liveSlices(),
    deployments: await consoleCall('GET', '/slices'),
    tokens: await consoleCall<{ slice: string; name: string; created_at: string }[]>(
      'GET',
      '/deploy-tokens',
    ).then((tokens) => tokens.map(({ slice, name, created_at }) => ({ slice, name, created_at }))),
    records: await fetch(`${address}/api/v1/disbursement-records`, {
      headers: { Authorization: `Bearer ${agent.token}` },
    }).then((answer) => answer.json() as Promise<{ transaction_id: string }[]>),
  });
  const before = await known();
  expect(before.records.map((record) => record.transaction_id)).toContain(payout.transaction_id);
  await compose('down');
  await compose('up', '--detach', '--wait');
  expect(await known()).toEqual(before);
  for (const slice of ['mfe-shell', 'mfe-auth', 'mfe-transactions'])
    expect(await lastLine(slice)).toMatch(/ is there already; it is live\.$/);
});
