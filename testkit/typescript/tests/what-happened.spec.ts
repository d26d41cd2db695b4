import { expect, test } from 'mkopo-test';
import { whatHappened } from '../src/what-happened';

test('what the portal knew has the payouts of the test alone, whatever its clock', async ({ mkopo }) => {
  await mkopo.clock.set('2020-01-01T00:00:00Z');
  const agent = await mkopo.sessions.open('agent');
  await agent.payOut(await mkopo.loans.approve({ loan_id: 'LN-PAST' }));
  const [, payouts] = /Payouts:\n((?: {2}.*\n)+)Calls:/.exec(await whatHappened(mkopo)) ?? [];
  expect(payouts?.match(/LN-\S+/g)).toEqual(['LN-PAST']);
});

test('what the portal knew does not say that the caller of a failed call was signed out', async ({
  mkopo,
}) => {
  const agent = await mkopo.sessions.open('agent');
  await mkopo.faults.add({ path: '/api/v1/auth/me', kind: 'status', status: 503 });
  await agent.portal.GET('/api/v1/auth/me');
  expect(await whatHappened(mkopo)).toMatch(/GET \/api\/v1\/auth\/me {2}503 {2}\d+ ms {2}fault: /);
});

test.describe('outside demo mode', () => {
  test.use({ settings: { MKOPO_DEMO: 'false' } });

  test('what the portal knew leaves out what its console refuses', async ({ mkopo }) => {
    await mkopo.portal.GET('/api/v1/auth/me');
    expect(await whatHappened(mkopo)).toMatch(/GET \/api\/v1\/auth\/me {2}401 {2}\d+ ms {2}signed out/);
  });
});
