import { CallFailed, expect, Portal, test } from 'mkopo-test';

test('the next payouts have the outcomes that were queued', async ({ mkopo }) => {
  await mkopo.mobileMoney.next('insufficient_funds', 'bad_number');
  expect((await mkopo.mobileMoney.behaviour()).next).toEqual(['insufficient_funds', 'bad_number']);
  const agent = await mkopo.sessions.open('agent');
  const loan = await mkopo.loans.approve({ amount: 25_000, customer_first_name: 'Wanjiku' });
  const refused = await agent.payOut(loan).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(CallFailed);
  expect(refused).toMatchObject({ status: 422, code: 'mobile_money_refused', body: { result_code: '1' } });
  await expect(agent.payOut(loan)).rejects.toThrow(/422 mobile_money_refused/);
  const paid = await agent.payOut(loan);
  expect(paid).toMatchObject({ status: 'COMPLETED', amount: 25_000, customer_first_name: 'Wanjiku' });
  const statuses = (await mkopo.payouts.list({ loan })).map(({ status }) => status);
  expect(statuses).toEqual(['COMPLETED', 'FAILED', 'FAILED']);
  expect((await agent.history())[0]?.id).toBe(paid.id);
  await mkopo.mobileMoney.always('maximum_balance');
  const [other] = await mkopo.loans.approveMany(3);
  await expect(agent.payOut(other!)).rejects.toMatchObject({ body: { result_code: '8' } });
  await mkopo.mobileMoney.reset();
  expect((await agent.payOut(other!)).status).toBe('COMPLETED');
});

test('a payout is awaited until it has settled', async ({ mkopo }) => {
  await mkopo.mobileMoney.change({ latency_ms: 60_000 });
  const agent = await mkopo.sessions.open('agent');
  const loan = await mkopo.loans.approve();
  expect((await agent.payOut(loan)).status).toBe('PENDING');
  await expect(mkopo.payouts.settled(loan, { wait: '1s' })).rejects.toThrow(/has settled within 1s/);
  await mkopo.clock.advance('2m');
  expect((await mkopo.payouts.settled(loan)).status).toBe('COMPLETED');
});

test('settled waits for the payout that follows, whatever has settled before', async ({ mkopo }) => {
  const agent = await mkopo.sessions.open('agent');
  const loan = await mkopo.loans.approve();
  // As a page does: the kit knows nothing of it.
  const payOut = async () =>
    agent.portal.POST('/api/v1/disbursements/{loanId}/disburse', {
      params: { path: { loanId: loan.loan_id } },
      body: { agent_id: 1, amount: loan.total_loan_amount, phone_number: loan.customer_phone_number },
    });
  await mkopo.mobileMoney.next('insufficient_funds', 'bad_number');
  await payOut();
  await payOut();
  expect((await mkopo.payouts.settled(loan)).error_message).toMatch(/balance/);
  expect((await mkopo.payouts.settled(loan)).error_message).toMatch(/operator/);
  await expect(mkopo.payouts.settled(loan, { wait: '1s' })).rejects.toThrow(/No other payout .* within 1s/);
  const [settled] = await Promise.all([mkopo.payouts.settled(loan), payOut()]);
  expect(settled.status).toBe('COMPLETED');
});

test('settled returns no payout of the demo data, of the past, or before a skip', async ({ mkopo }) => {
  const agent = await mkopo.sessions.open('agent');
  const tried = new Set((await mkopo.payouts.list({ settled: true })).map(({ loan_id }) => loan_id));
  const [loan] = (await agent.pendingLoans()).filter(({ loan_id }) => tried.has(loan_id));
  const hasNone = async () =>
    expect(mkopo.payouts.settled(loan!, { wait: '1s' })).rejects.toThrow(/No other/);
  await hasNone();
  const past = { loan: loan!, outcome: 'insufficient_funds', by: 'supervisor' } as const;
  expect((await mkopo.payouts.makePast(past)).user_email).toBe('supervisor@mkopo.test');
  await hasNone();
  await mkopo.mobileMoney.next('insufficient_funds');
  await agent.payOut(loan!).catch(() => undefined);
  await mkopo.payouts.skip();
  await hasNone();
});

test('settled returns what became of the last attempt of the kit', async ({ mkopo }) => {
  const agent = await mkopo.sessions.open('agent');
  const loan = await mkopo.loans.approve();
  await mkopo.mobileMoney.next('insufficient_funds', 'insufficient_funds');
  await expect(agent.payOut(loan)).rejects.toMatchObject({ status: 422 });
  expect((await mkopo.payouts.settled(loan)).status).toBe('FAILED');
  await expect(agent.payOut(loan)).rejects.toMatchObject({ status: 422 });
  const once = { idempotencyKey: 'once' };
  const paid = await agent.payOut(loan, once);
  expect(await agent.payOut(loan, once)).toEqual(paid);
  expect((await mkopo.payouts.settled(loan)).id).toBe(paid.id);
});

test('each code is returned once, and awaited', async ({ mkopo }) => {
  const request = async () =>
    mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: { email: 'agent@mkopo.test' } });
  const [code] = await Promise.all([mkopo.outbox.code({ to: 'agent' }), request()]);
  expect(code).toMatch(/^\d{6}$/);
  await expect(mkopo.outbox.code({ to: 'agent', wait: '1s' })).rejects.toThrow(
    'No new code for agent within 1s',
  );
  await mkopo.clock.advance('31s');
  const [second] = await Promise.all([mkopo.outbox.code({ to: 'agent' }), request()]);
  const newest = await mkopo.outbox.messages({ to: 'agent' });
  expect(newest.map((message) => message.code)).toEqual([second, code]);

  await mkopo.portal.POST('/api/v1/auth/request-password-reset', { body: { email: 'agent@mkopo.test' } });
  const message = await mkopo.outbox.next({ to: '0711 000 003', channel: 'sms' });
  expect(message).toMatchObject({ to: '+254711000003', subject: null });
  await mkopo.outbox.clear();
  expect(await mkopo.outbox.messages()).toEqual([]);
});

test('messages are returned in their order, and once whoever is asked for', async ({ mkopo }) => {
  const agent = { email: 'agent@mkopo.test' };
  await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: agent });
  await mkopo.portal.POST('/api/v1/auth/request-password-reset', { body: agent });
  await mkopo.clock.advance('31s');
  await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: agent });
  const [second, reset, first] = (await mkopo.outbox.messages()).map(({ code }) => code);
  expect(await mkopo.outbox.code({ to: 'agent' })).toBe(first);
  expect(await mkopo.outbox.code()).toBe(reset);
  await mkopo.snapshots.save('after-two');
  expect(await mkopo.outbox.code({ channel: 'email' })).toBe(second);
  await mkopo.snapshots.restore('after-two');
  for (const filter of [{}, { to: 'agent' }, { to: '+254711000003' }, { channel: 'email' }] as const)
    await expect(mkopo.outbox.next({ ...filter, wait: '1s' })).rejects.toThrow(/No new message/);

  await mkopo.clock.advance('31s');
  await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: agent });
  await mkopo.outbox.skip();
  await expect(mkopo.outbox.code({ wait: '1s' })).rejects.toThrow(/No new code/);
});

test.describe('in a portal that is used', () => {
  test.use({ sandboxPer: 'none', settings: {} });

  test('the verbs that wait return nothing of before', async ({ mkopo }) => {
    const agent = await mkopo.sessions.open('agent');
    const loan = await mkopo.loans.approve();
    await mkopo.mobileMoney.next('insufficient_funds');
    await agent.payOut(loan).catch(() => undefined);
    await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: { email: 'agent@mkopo.test' } });
    const { url, token } = mkopo;
    const consoleUrl = mkopo.consoleUrl!;
    const again = await (await Portal.connect({ url, consoleUrl, consoleToken: token })).main();
    await expect(again.outbox.code({ wait: '1s' })).rejects.toThrow(/No new code/);
    await expect(again.payouts.settled(loan, { wait: '1s' })).rejects.toThrow(/No other payout/);
  });
});

test('a fault ends with its scope, by hand, or with the test', async ({ mkopo }) => {
  const agent = await mkopo.sessions.open('agent');
  const down = { path: '/api/v1/auth/me', kind: 'status', status: 503 } as const;
  const status = async () => (await agent.portal.GET('/api/v1/auth/me')).response.status;
  expect(await mkopo.faults.during(down, status)).toBe(503);
  expect(await status()).toBe(200);
  const fault = await mkopo.faults.add(down);
  expect(await status()).toBe(503);
  expect((await mkopo.faults.list()).map(({ hits }) => hits)).toEqual([1]);
  await fault.remove();
  await fault.remove();
  expect(await status()).toBe(200);
  await mkopo.faults.add(down);
  await mkopo.faults.clear();
  expect(await status()).toBe(200);
  await mkopo.faults.add(down);
});

for (const [kind, status] of [
  ['truncate', undefined],
  ['malformed', 200],
] as const)
  test(`an answer with the fault ${kind} is a call that failed`, async ({ mkopo }) => {
    const agent = await mkopo.sessions.open('agent');
    const loan = await mkopo.loans.approve();
    await mkopo.faults.add({ path: '/api/v1/disbursements/*/disburse', kind, times: 1 });
    const failed = await agent.payOut(loan).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CallFailed);
    expect(failed).toMatchObject({
      status,
      message: expect.stringMatching(/^POST http\S+\/disburse: \S+ \S/),
      stack: expect.stringContaining(import.meta.filename),
    });
    expect((await mkopo.payouts.settled(loan)).status).toBe('COMPLETED');
  });

test('the clock moves, stops and goes on', async ({ mkopo }) => {
  await mkopo.clock.freeze('2026-12-24T06:00:00Z');
  expect(await mkopo.clock.now()).toEqual(new Date('2026-12-24T06:00:00Z'));
  await mkopo.clock.advance('1h30m');
  expect(await mkopo.clock.now()).toEqual(new Date('2026-12-24T07:30:00Z'));
  await mkopo.clock.unfreeze();
  await mkopo.clock.set(new Date('2020-01-01T00:00:00Z'));
  expect((await mkopo.clock.now()).getUTCFullYear()).toBe(2020);
  await mkopo.clock.reset();
  expect(Math.abs(Date.now() - (await mkopo.clock.now()).getTime())).toBeLessThan(60_000);
});

test('accounts are opened, changed and signed out', async ({ mkopo }) => {
  const grace = await mkopo.staff.open({ email: 'grace@example.com' });
  expect(grace).toMatchObject({ first_name: 'Grace', role: 'agent', is_active: true });
  await mkopo.staff.open({ email: 'juma@example.com', password: 'Kahawa-2026' });
  const [session] = [await mkopo.sessions.open('juma@example.com'), await mkopo.sessions.open('agent')];
  expect((await mkopo.staff.get('juma@example.com')).open_sessions).toBe(1);
  expect(await mkopo.sessions.end('juma@example.com')).toBe(1);
  await expect(session.pendingLoans()).rejects.toMatchObject({ status: 401 });
  expect(await mkopo.sessions.endAll()).toBe(1);
  expect((await mkopo.staff.setRole('agent', 'supervisor')).role).toBe('supervisor');
  expect((await mkopo.staff.deactivate('agent')).is_active).toBe(false);
  await expect(mkopo.sessions.open('agent')).rejects.toMatchObject({ status: 403 });
  expect((await mkopo.staff.activate('agent')).is_active).toBe(true);
  expect((await mkopo.staff.list()).map(({ email }) => email)).toContain('grace@example.com');
  const [latest] = await mkopo.events.list({ who: 'grace@example.com', kind: 'account_opened' });
  expect(latest?.about).toBe('grace@example.com');
});

test('an account is found by its address however it is written', async ({ mkopo }) => {
  await mkopo.staff.open({ email: 'Grace@Example.com', password: 'Kahawa-2026' });
  for (const who of ['Grace@Example.com', 'grace@example.com'])
    expect((await mkopo.sessions.open(who)).user.email).toBe('grace@example.com');
});

test('calls are found by path, status and user', async ({ mkopo }) => {
  const since = await mkopo.clock.now();
  const agent = await mkopo.sessions.open('agent');
  await agent.pendingLoans();
  await expect(mkopo.sessions.open('agent', 'wrong')).rejects.toThrow(/400/);
  const [call, ...others] = await mkopo.traffic.calls({ path: '/pending', user: 'agent', since });
  expect(others).toEqual([]);
  expect(call).toMatchObject({ method: 'GET', status: 200, user: 'agent@mkopo.test' });
  expect(await mkopo.traffic.calls({ status: '4xx', method: 'POST' })).toHaveLength(1);
  await mkopo.traffic.clear();
  expect(await mkopo.traffic.calls()).toEqual([]);
});

test('every other call of the contract is typed', async ({ mkopo }) => {
  const { data } = await mkopo.console.GET('/console/api/slices');
  expect(data?.slices.map(({ name }) => name)).toContain('mfe-loans');
});
