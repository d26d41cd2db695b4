import { test as base, type TestInfo } from '@playwright/test';
import { findSandboxes } from './localhost';
import type { Mkopo, Start } from './mkopo';
import { exact, Portal } from './portal';
import { addressesOfTheRun, endsWithTheRun } from './portal-of-the-run';
import { whatHappened } from './what-happened';

interface TestFixtures {
  /** The sandbox of this test: as it was made, whatever tests before it did. */
  mkopo: Mkopo;
  /** Whether each worker has a sandbox, which is reset before each test, or each test. */
  sandboxPer: 'worker' | 'test';
  /** What the sandbox starts with. */
  start: Start;
  /** Whether it is checked after the test that every shilling is accounted for. */
  checkInvariant: boolean;
}

interface WorkerFixtures {
  sandboxes: Sandboxes;
}

/** The sandboxes of one worker. */
class Sandboxes {
  readonly #portal: Portal;
  /** Where the clocks of this worker start if a test does not say it. */
  readonly #now = exact({}).now;
  #ofWorker: Mkopo | undefined;

  constructor(portal: Portal) {
    this.#portal = portal;
  }

  /** A sandbox at its start. */
  async get(per: 'worker' | 'test', start: Start): Promise<Mkopo> {
    const known = exact({ now: this.#now, ...start });
    if (per === 'test') return this.#portal.makeSandbox(known);
    if (this.#ofWorker) await this.#ofWorker.reset(known);
    else this.#ofWorker = await this.#portal.makeSandbox(known);
    return this.#ofWorker;
  }

  /** The test is done with its sandbox; after a failure, the sandbox is kept as it is. */
  async giveBack(mkopo: Mkopo, isKept: boolean): Promise<void> {
    if (isKept && mkopo === this.#ofWorker) this.#ofWorker = undefined;
    if (!isKept && mkopo !== this.#ofWorker) await this.#portal.removeSandbox(mkopo);
  }

  async end(): Promise<void> {
    if (this.#ofWorker) await this.#portal.removeSandbox(this.#ofWorker);
  }
}

/** Playwright's `test` with a sandbox for each worker, or for each test. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  sandboxes: [
    async ({}, use) => {
      findSandboxes();
      const sandboxes = new Sandboxes(await Portal.connect(addressesOfTheRun()));
      await use(sandboxes);
      await sandboxes.end();
    },
    { scope: 'worker' },
  ],
  sandboxPer: ['worker', { option: true }],
  start: [{}, { option: true }],
  checkInvariant: [true, { option: true }],
  mkopo: async ({ sandboxes, sandboxPer, start, checkInvariant }, use, testInfo) => {
    const mkopo = await sandboxes.get(sandboxPer, start);
    await use(mkopo);
    const problem = checkInvariant ? await unaccounted(mkopo) : undefined;
    const hasFailed = problem !== undefined || testInfo.status !== testInfo.expectedStatus;
    if (hasFailed) await report(mkopo, testInfo);
    await sandboxes.giveBack(mkopo, hasFailed);
    if (problem) throw new Error(problem);
  },
  baseURL: async ({ mkopo }, use) => use(mkopo.url),
});

/** What is wrong with the money, if anything is. */
async function unaccounted(mkopo: Mkopo): Promise<string | undefined> {
  try {
    const invariant = await mkopo.invariant();
    return invariant.ok ? undefined : `Not every shilling is accounted for: ${JSON.stringify(invariant)}`;
  } catch (error) {
    return `It could not be checked that every shilling is accounted for: ${String(error)}`;
  }
}

/** Adds to the report what the portal knows, and where the sandbox is. */
async function report(mkopo: Mkopo, testInfo: TestInfo): Promise<void> {
  const kept = endsWithTheRun()
    ? 'It ended with the portal of this run; with MKOPO_URL set, it would have been kept.'
    : `It is kept: ${mkopo.url}, console ${mkopo.consoleUrl ?? 'off'}`;
  testInfo.annotations.push({ type: 'sandbox', description: `${mkopo.name}. ${kept}` });
  const text = await whatHappened(mkopo).catch((error: unknown) => `It could not be asked: ${String(error)}`);
  await testInfo.attach('what the portal knew', { body: text, contentType: 'text/plain' });
  const evidence = await mkopo.evidence().catch(() => undefined);
  if (evidence)
    await testInfo.attach('evidence.json', {
      body: JSON.stringify(evidence, null, 2),
      contentType: 'application/json',
    });
  console.error(`\n${text}\n${kept}\n`);
}
