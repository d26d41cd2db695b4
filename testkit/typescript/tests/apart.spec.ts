import { expect, test } from 'mkopo-test';

const NEVER_THERE = ['left@example.com', 'LN-LEFT'] as const;

// More than workers, so that each worker runs several, and each finds what the one before would have left.
for (let index = 0; index < 8; index += 1) {
  test(`test ${index} finds its own start and sees no other test`, async ({ mkopo }) => {
    const { now, frozen } = (await mkopo.console.GET('/console/api/clock')).data!;
    expect(frozen).toBe(false);
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(10 * 60_000);
    expect(await mkopo.faults.list()).toEqual([]);
    expect(await mkopo.outbox.messages()).toEqual([]);
    expect(await mkopo.traffic.calls()).toEqual([]);
    expect(await mkopo.snapshots.list()).toEqual([]);
    expect((await mkopo.mobileMoney.behaviour()).next).toEqual([]);
    expect((await mkopo.staff.list()).map(({ email }) => email)).not.toContain(NEVER_THERE[0]);

    const year = 2030 + index;
    await mkopo.clock.freeze(`${year}-01-01T00:00:00Z`);
    await mkopo.faults.add({ path: '/api/v1/auth/me', kind: 'status', status: 500 + index });
    await mkopo.mobileMoney.next('insufficient_funds');
    await mkopo.staff.open({ email: NEVER_THERE[0] });
    const loan = await mkopo.loans.approve({ loan_id: NEVER_THERE[1], amount: 1000 + index });
    await mkopo.snapshots.save('left');
    const agent = await mkopo.sessions.open('agent');
    await expect(agent.payOut(loan)).rejects.toMatchObject({ body: { result_code: '1' } });
    await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: { email: 'agent@mkopo.test' } });
    await mkopo.outbox.code({ to: 'agent' });

    expect((await agent.portal.GET('/api/v1/auth/me')).response.status).toBe(500 + index);
    expect(await mkopo.clock.now()).toEqual(new Date(`${year}-01-01T00:00:00Z`));
    expect((await mkopo.payouts.list({ loan })).map(({ amount }) => amount)).toEqual([1000 + index]);
    // Payouts of the demo data settle when the time has come, too.
    expect(await mkopo.outbox.messages({ to: 'agent' })).toHaveLength(1);
    expect(await mkopo.faults.list()).toHaveLength(1);
  });
}

test.describe('a sandbox for each test', () => {
  test.use({ sandboxPer: 'test' });
  const names = new Set<string>();

  for (const nth of ['first', 'second'])
    test(`the ${nth} has another one`, ({ mkopo }) => {
      expect(names).not.toContain(mkopo.name);
      names.add(mkopo.name);
    });
});
