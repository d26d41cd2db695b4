import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { expect } from '@playwright/test';
import { PASSWORD } from 'mkopo-test';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The address of the stack. */
export const address = process.env.MKOPO_E2E_URL ?? '';

/** The address of its console. */
export const consoleAddress = process.env.MKOPO_E2E_CONSOLE_URL ?? '';

/** Runs `docker compose …` on the stack and returns its output. */
export async function compose(...args: string[]): Promise<string> {
  return docker('compose', ...args);
}

/** Runs `docker …` and returns its output. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await run('docker', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** The last line that a service's container logged. */
export async function lastLine(service: string): Promise<string | undefined> {
  const logged = await compose('logs', '--no-log-prefix', service);
  return stripVTControlCharacters(logged).split('\n').at(-1);
}

/** Kills a program in its container as a crash does; the container engine has to notice it. */
export async function crash(service: string, program: string): Promise<void> {
  const script = `for process in /proc/[0-9]*; do
    [[ $(readlink "$process/exe") != */${program} ]] || kill -KILL "\${process#/proc/}"
  done`;
  // The shell may go with it.
  await compose('exec', '-T', service, 'bash', '-c', script).catch(() => undefined);
}

interface ListedSlice {
  version: string;
  entry: string;
}

/** The slices that browsers without a rollout get, by name. */
export async function liveSlices(): Promise<Record<string, ListedSlice>> {
  const answer = await fetch(`${address}/slices.json`);
  return ((await answer.json()) as { slices: Record<string, ListedSlice> }).slices;
}

/** The version of mfe-loans that nothing has yet. */
async function nextVersion(): Promise<string> {
  const { slices } = await consoleCall<{ slices: { name: string; builds: { version: string }[] }[] }>(
    'GET',
    '/slices',
  );
  const { builds } = slices.find(({ name }) => name === 'mfe-loans') ?? { builds: [] };
  const patches = builds.map(({ version }) => Number(version.split('.')[2]));
  return `0.1.${Math.max(...patches) + 1}`;
}

/** A newer build of mfe-loans, whose list of pending loans has the heading `title`. */
export interface NewerLoans {
  version: string;
  title: string;
  /** Starts a container with it in place of the one that runs. Nothing else is built and started. */
  deploy: (settings?: Record<string, string>) => Promise<void>;
}

/**
 * Builds a newer mfe-loans from another checkout, in which only the owner may read the files. `edits` are further
 * changes: a file, a text in it, and what replaces that.
 */
export async function buildNewerLoans(edits: [string, string, string][] = []): Promise<NewerLoans> {
  const version = await nextVersion();
  const title = `Loans to pay out ${version}`;
  const checkout = await mkdtemp(join(tmpdir(), 'mkopo-checkout-'));
  const files = await run('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
  for (const file of files.stdout.split('\n').filter(Boolean)) {
    const path = join(checkout, file);
    await cp(join(root, file), path);
    await chmod(path, (await stat(path)).mode & 0o700);
  }
  for (const [file, from, to] of [
    ['package.json', '"version": "0.1.0"', `"version": "${version}"`],
    ['src/loans-texts.ts', 'Pending Disbursements', title],
    ...edits,
  ] as const) {
    const path = join(checkout, 'mfe-loans', file);
    const text = await readFile(path, 'utf8');
    expect(text, file).toContain(from);
    await writeFile(path, text.replaceAll(from, to));
  }
  const project = [
    'compose',
    '--project-directory',
    checkout,
    '--file',
    join(checkout, 'docker-compose.yml'),
  ];
  await docker(...project, 'build', 'mfe-loans');
  const deploy = async (settings: Record<string, string> = {}) => {
    const env = { ...process.env, ...settings };
    await run('docker', [...project, 'up', '--build', '--detach', 'mfe-loans'], { env });
    await rm(checkout, { recursive: true });
  };
  return { version, title, deploy };
}

/** A container as `docker inspect` describes it. */
export interface Container {
  service: string;
  Id: string;
  State: { Status: string; StartedAt: string; Health?: { Status: string } };
  RestartCount: number;
  Config: { User: string; Labels: Record<string, string>; Healthcheck?: object };
  HostConfig: {
    ReadonlyRootfs: boolean;
    Privileged: boolean;
    CapAdd: string[] | null;
    CapDrop: string[] | null;
    SecurityOpt: string[] | null;
    RestartPolicy: { Name: string };
    LogConfig: { Config: Record<string, string> };
    Memory: number;
    NanoCpus: number;
    PidsLimit: number | null;
  };
  NetworkSettings: { Ports: Record<string, { HostIp: string }[] | null> };
}

/** Every container of the stack, by service name. */
export async function containers(): Promise<Container[]> {
  const ids = (await compose('ps', '--all', '--quiet')).split('\n').filter(Boolean);
  const found = JSON.parse(await docker('inspect', ...ids)) as Container[];
  return found.map((container) => ({
    ...container,
    service: container.Config.Labels['com.docker.compose.service'] ?? '',
  }));
}

/** Waits until a service's container is healthy. */
export async function healthy(service: string): Promise<void> {
  await expect
    .poll(
      async () =>
        (await containers()).find((container) => container.service === service)?.State.Health?.Status,
      { timeout: 60_000, message: `${service} gets healthy` },
    )
    .toBe('healthy');
}

/** Calls the console's API and returns the JSON body. */
export async function consoleCall<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${consoleAddress}/console/api${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${process.env.MKOPO_E2E_CONSOLE_TOKEN}`,
      'Content-Type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

interface Loan {
  loan_id: string;
  total_loan_amount: number;
  customer_phone_number: string;
}

interface PaidOut {
  id: string;
  loan_id: string;
  status: string;
  transaction_id: string;
}

interface Invariant {
  ok: boolean;
  money_out: number;
  completed: number;
  double_paid: string[];
  pending: number;
}

/** The observations of a client that pays out many loans. */
interface Seen {
  /** Calls without a response, or with one that does not describe the payout. */
  unanswered: string[];
  /** Transaction ids of payouts that were reported as completed. */
  told: string[];
}

/** The amount of each loan in KES, well within mobile money's limits. */
const AMOUNT = 1_000;

/** The number of concurrent calls. */
const AT_ONCE = 24;

/**
 * Pays out a number of new loans, repeating each request until the loan is paid, and calls `interrupt`
 * after a quarter of them. At the end, every loan must have been paid exactly once, and every reported
 * payout must be in the history.
 */
export async function payThrough(count: number, interrupt: () => Promise<void>): Promise<Seen> {
  await consoleCall('POST', '/data/reset');
  const authorization = { Authorization: `Bearer ${await signIn()}` };
  const before = await consoleCall<Invariant>('GET', '/invariant');
  const loans = await consoleCall<Loan[]>('POST', '/loans', { count, loan: { total_loan_amount: AMOUNT } });
  expect(loans).toHaveLength(count);
  await consoleCall('PUT', '/scenario', { latency_ms: 100 });

  const seen: Seen = { unanswered: [], told: [] };
  let interrupted: Promise<void> | undefined;
  const waiting = [...loans];
  const pay = async ({ loan_id, total_loan_amount, customer_phone_number }: Loan) => {
    let key = randomUUID();
    let last = 'no answer';
    for (const end = Date.now() + 90_000; Date.now() < end;) {
      const answer = await fetch(`${address}/api/v1/disbursements/${loan_id}/disburse`, {
        method: 'POST',
        headers: { ...authorization, 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify({
          agent_id: 1,
          amount: total_loan_amount,
          phone_number: customer_phone_number,
        }),
        signal: AbortSignal.timeout(15_000),
      }).catch(() => null);
      const told = (await answer?.json().catch(() => null)) as
        (Partial<PaidOut> & { record?: PaidOut; code?: string }) | null;
      const payout = answer?.status === 200 ? told : told?.record;
      if (payout?.status?.toLowerCase() === 'completed' && payout.transaction_id) {
        seen.told.push(payout.transaction_id);
        if (seen.told.length > count / 4) interrupted ??= interrupt().then(waitForLateRequests);
        return;
      }
      // Without a response, the request is repeated with the same key. After a response that is not
      // final, a new key is used, because the provider replays its response to the same key.
      last = answer ? `${answer.status} ${told?.code ?? payout?.status ?? ''}` : 'no answer';
      if (!answer || answer.status >= 500) seen.unanswered.push(last);
      else key = randomUUID();
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    throw new Error(`the payout of ${loan_id} is not completed: ${last}`);
  };
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let loan = waiting.pop(); loan; loan = waiting.pop()) await pay(loan);
    }),
  );
  await interrupted;
  expect(interrupted, 'payouts were interrupted').toBeDefined();

  await expect
    .poll(async () => (await consoleCall<Invariant>('GET', '/invariant')).pending, { timeout: 60_000 })
    .toBe(before.pending);
  const after = await consoleCall<Invariant>('GET', '/invariant');
  expect(after).toMatchObject({ ok: true, double_paid: [] });
  expect(after.money_out - before.money_out).toBe(count * AMOUNT);
  expect(after.completed - before.completed).toBe(count * AMOUNT);

  const history = await fetch(`${address}/api/v1/disbursement-records`, { headers: authorization });
  const records = (await history.json()) as PaidOut[];
  const paid = records.filter(({ status }) => status.toLowerCase() === 'completed').map((one) => one.loan_id);
  for (const { loan_id } of loans) expect(paid.filter((id) => id === loan_id)).toEqual([loan_id]);
  const known = new Set(records.map((record) => record.transaction_id));
  expect(seen.told.filter((id) => !known.has(id))).toEqual([]);
  expect(new Set(seen.told).size).toBe(count);
  return seen;
}

/**
 * A request that a killed server may have sent has some minutes to reach mobile money before the loan
 * can be paid out again. Other payouts settle at once; for these, the clock is moved.
 */
async function waitForLateRequests() {
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await consoleCall('PUT', '/clock', { advance: '3m' });
}

/** Signs a supervisor in at the portal, and returns the token. */
export async function signIn(portal = address): Promise<string> {
  const answer = await fetch(`${portal}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'supervisor@mkopo.test', password: PASSWORD }),
  });
  const { user } = (await answer.json()) as { user: { token: string } };
  return user.token;
}
