import { expect, test } from 'mkopo-test';

test('fails after a payout', async ({ mkopo }) => {
  await mkopo.faults.add({ path: '/api/v1/auth/login', kind: 'latency', ms: 1, times: 1 });
  await mkopo.faults.add({ path: '/api/v1/auth/me', kind: 'drop', times: 1 });
  const agent = await mkopo.sessions.open('agent');
  const loan = await mkopo.loans.approve({ loan_id: 'LN-FAILS', amount: 4321 });
  await mkopo.mobileMoney.next('insufficient_funds');
  await agent.payOut(loan).catch(() => undefined);
  await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: { email: 'agent@mkopo.test' } });
  const code = await mkopo.outbox.code({ to: 'agent' });
  // The secrets that must not be printed, for the test that reads this.
  const secrets = [code, agent.token, mkopo.token].map((secret) => Buffer.from(secret).toString('base64'));
  console.log('SECRETS', JSON.stringify(secrets));
  expect(await agent.history()).toEqual([]);
});
