import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Mkopo, test } from 'mkopo-test';

type Values = Record<string, unknown>;

/** The TypeScript of each recipe of docs/console.md, by title. */
const RECIPES = new Map(
  readFileSync(join(import.meta.dirname, '../../../docs/console.md'), 'utf8')
    .split('\n## ')
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', /```ts\n(.*?)\n```/s.exec(section)?.[1] ?? ''] as const),
);

/** The recipes that the token of a sandbox does not allow; the operator's does. */
const FOR_THE_OPERATOR = ['Let a team deploy its slice'];

/** Runs a recipe exactly as written, with `values` in its scope; returns what it declares. */
async function run(title: string, values: Values): Promise<unknown> {
  const recipe = RECIPES.get(title);
  if (!recipe) throw new Error(`${title} has no TypeScript`);
  const [, declared] = /^const (?:\{ )?(\w+)/.exec(recipe) ?? [];
  const body = `return (async () => { ${recipe} ${declared ? `return ${declared};` : ''} })();`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the page's own text is what is tested
  const act = new Function(...Object.keys(values), body) as (...given: unknown[]) => Promise<unknown>;
  return act(...Object.values(values));
}

async function statuses(mkopo: Mkopo, count: number): Promise<number[]> {
  const agent = await mkopo.sessions.open('agent');
  const found = [];
  for (let call = 0; call < count; call += 1)
    found.push((await agent.portal.GET('/api/v1/disbursement-records')).response.status);
  return found;
}

test('every recipe does what its title says', async ({ mkopo }) => {
  const done: string[] = [];
  const recipe = async (title: string, values: Values = {}) => {
    done.push(title);
    return run(title, { mkopo, ...values });
  };
  const agent = await mkopo.sessions.open('agent');

  await mkopo.portal.POST('/api/v1/auth/request-signin-otp', { body: { email: 'agent@mkopo.test' } });
  expect(await recipe('Read the code in a test')).toMatch(/^\d{6}$/);

  const loan = (await recipe('Approve a loan to pay out')) as Awaited<ReturnType<typeof mkopo.loans.approve>>;
  expect(loan).toMatchObject({ customer_first_name: 'Wanjiku', total_loan_amount: 25_000 });
  await recipe('Make the next payout fail');
  await expect(agent.payOut(loan)).rejects.toMatchObject({ body: { result_code: '1' } });
  await recipe('Lose the answer');
  await expect(agent.payOut(loan)).rejects.toMatchObject({ status: undefined });
  await expect(agent.payOut(loan)).rejects.toMatchObject({ code: 'already_disbursed' });
  expect(await recipe('See which requests were made')).toHaveLength(2);
  expect(await recipe('Keep what happened for a bug report')).toMatchObject({ log: { version: '1.2' } });
  expect(await recipe('See how a payout ended', { loan })).toMatchObject({ status: 'COMPLETED' });
  const past = await recipe('Make a payout of the past');
  expect(past).toMatchObject({ status: 'FAILED', created_at: '2025-01-15T07:00:00.000Z' });
  expect(await agent.history()).toContainEqual(past);

  await recipe('Fail three calls in ten');
  const failed = (await statuses(mkopo, 40)).filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(3);
  expect(failed).toBeLessThan(23);
  await recipe('Make a call slow');
  const asked = Date.now();
  await agent.pendingLoans();
  expect(Date.now() - asked).toBeGreaterThanOrEqual(3000);
  await recipe('End all faults');
  expect(new Set(await statuses(mkopo, 20))).toEqual(new Set([200]));
  expect(await recipe('Expire every session')).toBe(3);
  await expect(agent.history()).rejects.toMatchObject({ status: 401 });

  expect(await recipe('Open an account')).toMatchObject({ email: 'grace@example.com', role: 'agent' });
  const grace = await mkopo.sessions.open('grace@example.com', 'Kahawa-2026');
  const events = (await recipe('See who did what')) as { kind: string }[];
  expect(events.map(({ kind }) => kind)).toEqual(['signed_in', 'account_opened']);

  await recipe('Save');
  const saved = await grace.pendingLoans();
  const approved = await mkopo.loans.approve();
  await recipe('Jump to tomorrow');
  await expect(grace.pendingLoans()).rejects.toMatchObject({ status: 401 });
  await recipe('Go back to the real time');
  // Payouts that the demo left open may have settled tomorrow.
  expect((await grace.pendingLoans()).map((loan) => loan.loan_id)).toContain(approved.loan_id);
  await recipe('Restore');
  expect(await grace.pendingLoans()).toEqual(saved);

  expect(await recipe('Ask whether every shilling is accounted for')).toBe(true);
  await recipe('Reset');
  expect(await mkopo.snapshots.list()).toEqual([]);
  const all = [...RECIPES.keys()].filter((title) => !FOR_THE_OPERATOR.includes(title));
  expect(done.sort()).toEqual(all.sort());
});

test.describe('in the portal itself', () => {
  test.use({ settings: {} });

  test('the recipe for the operator does what its title says', async ({ mkopo }) => {
    expect(await run('Let a team deploy its slice', { mkopo })).toMatchObject({
      token: expect.stringMatching(/^mkopo_deploy_/),
    });
  });
});
