import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test as base, type TestInfo } from '@playwright/test';
import { CallFailed } from './call-failed';
import { findSandboxes } from './localhost';
import type { Mkopo, Start } from './mkopo';
import { exact, type NewSandbox, Portal } from './portal';
import { addressesOfTheRun, endsWithTheRun } from './portal-of-the-run';
import { type Settings, startPortal } from './start-portal';
import { whatHappened } from './what-happened';

/** The unit that has a sandbox to itself: each worker, each test, or none. */
type SandboxPer = 'worker' | 'test' | 'none';

interface TestFixtures {
  /** The sandbox of this test: as it was made, whatever tests before it did. */
  mkopo: Mkopo;
  /**
   * With `worker`, each worker has a sandbox, which is reset before each test; with `test`, each test has
   * one. With `none`, for a portal without sandboxes, tests share the portal itself, which is reset before
   * each: use one worker.
   */
  sandboxPer: SandboxPer;
  /** The initial data and clock of the sandbox. */
  start: Start;
  /** Settings of a portal that is started for each test; `mkopo` is that portal itself, unless there is a story. */
  settings: Settings | undefined;
  /** The name of a story: each test has a sandbox of its own, which tells it. It says what the sandbox starts with. */
  story: string | undefined;
  /** `true` to check after the test that every shilling is accounted for. */
  checkInvariant: boolean;
}

interface WorkerFixtures {
  sandboxes: Sandboxes;
}

/** The sandbox or the portal that a test uses. */
interface Place {
  mkopo: Mkopo;
  /** Where it is after a failure. */
  whereabouts: string;
  /** The test is done with it; after a failure, a sandbox is kept as it is if its portal does not end with the run. */
  giveBack: (hasFailed: boolean) => Promise<void> | void;
}

/** The sandboxes of one worker. */
class Sandboxes {
  /** Where the clocks of this worker start if a test does not say it. */
  readonly #now = exact({}).now;
  /** A file with what failed tests of this run have kept, the oldest first: a failed test ends its worker. */
  readonly #kept: string;
  #connected: Promise<Portal> | undefined;
  #ofWorker: Mkopo | undefined;

  constructor(folder: string) {
    this.#kept = join(folder, 'kept-sandboxes');
  }

  async #portal(): Promise<Portal> {
    return (this.#connected ??= Portal.connect(addressesOfTheRun()));
  }

  /** A sandbox at its start, or at that of a story. */
  async get(per: SandboxPer, start: Start, story: string | undefined): Promise<Place> {
    if (story !== undefined) return this.#place(await this.#make({ story }));
    const known = exact({ now: this.#now, ...start });
    switch (per) {
      case 'none': {
        const mkopo = await (await this.#portal()).main();
        await mkopo.reset(start);
        const whereabouts = 'It is the portal itself, which the next test resets.';
        return { mkopo, whereabouts, giveBack: () => {} };
      }
      case 'test':
        return this.#place(await this.#make(known));
      case 'worker':
        if (this.#ofWorker && !(await isThere(this.#ofWorker.reset(known)))) this.#ofWorker = undefined;
        return this.#place((this.#ofWorker ??= await this.#make(known)));
      default:
        throw new Error(`sandboxPer is '${String(per)}', and must be 'worker', 'test' or 'none'`);
    }
  }

  async end(): Promise<void> {
    // If the portal no longer answers, its sandboxes expire by themselves.
    if (!this.#ofWorker) return;
    await this.#remove(this.#ofWorker).catch((error: unknown) => {
      if (!(error instanceof CallFailed)) throw error;
    });
  }

  #place(mkopo: Mkopo): Place {
    const giveBack = async (hasFailed: boolean) => {
      if (mkopo === this.#ofWorker) {
        if (!hasFailed) return;
        this.#ofWorker = undefined;
      }
      if (hasFailed && !endsWithTheRun()) await this.#keep(mkopo);
      else await this.#remove(mkopo);
    };
    return { mkopo, whereabouts: keptAt(mkopo), giveBack };
  }

  /** Makes a sandbox, in the place of those that were kept if there is no other. */
  async #make(wanted: NewSandbox): Promise<Mkopo> {
    const portal = await this.#portal();
    try {
      return await portal.makeSandbox(wanted);
    } catch (error) {
      const isFull = error instanceof CallFailed && error.code === 'too_many_sandboxes';
      if (!isFull || !(await this.#removeOldest())) throw error;
      return this.#make(wanted);
    }
  }

  async #keep({ name }: Mkopo): Promise<void> {
    await mkdir(dirname(this.#kept), { recursive: true });
    await appendFile(this.#kept, `${name}\n`);
  }

  /** Removes the oldest sandbox that was kept; returns whether there was one. */
  async #removeOldest(): Promise<boolean> {
    const kept = await readFile(this.#kept, 'utf8').catch(() => '');
    for (const name of kept.split('\n').filter(Boolean)) if (await this.#remove({ name })) return true;
    return false;
  }

  /** Removes a sandbox; returns whether it was there. */
  async #remove(sandbox: { name: string }): Promise<boolean> {
    return isThere((await this.#portal()).removeSandbox(sandbox));
  }
}

/** Whether a sandbox is there for a call to it, and has not been removed. */
async function isThere(call: Promise<void>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof CallFailed && error.code === 'sandbox_not_found') return false;
    throw error;
  }
}

/** A portal that is started for one test. */
async function ownPortal(settings: Settings, start: Start, story: string | undefined): Promise<Place> {
  const { stop, ...addresses } = await startPortal(settings);
  try {
    const portal = await Portal.connect(addresses);
    const mkopo = await (story === undefined ? portal.main() : portal.makeSandbox({ story }));
    if (Object.keys(start).length > 0) await mkopo.reset(start);
    return { mkopo, whereabouts: 'It ended with the test.', giveBack: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Fails if a story is combined with what it says itself, or with a place that tells none. */
function checkStory(per: SandboxPer, start: Start): void {
  if (Object.keys(start).length > 0)
    throw new Error('A story says what the sandbox starts with: leave out `start`');
  if (per === 'none') throw new Error("Only a sandbox tells a story: leave out `sandboxPer: 'none'`");
}

/** Playwright's `test` with a sandbox for each worker, or for each test. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  sandboxes: [
    async ({}, use, { project }) => {
      findSandboxes();
      const sandboxes = new Sandboxes(project.outputDir);
      await use(sandboxes);
      await sandboxes.end();
    },
    { scope: 'worker' },
  ],
  sandboxPer: ['worker', { option: true }],
  start: [{}, { option: true }],
  settings: [undefined, { option: true }],
  story: [undefined, { option: true }],
  checkInvariant: [true, { option: true }],
  mkopo: async ({ sandboxes, sandboxPer, start, settings, story, checkInvariant }, use, testInfo) => {
    if (story !== undefined) checkStory(sandboxPer, start);
    const place = settings
      ? await ownPortal(settings, start, story)
      : await sandboxes.get(sandboxPer, start, story);
    await use(place.mkopo);
    const problem = checkInvariant ? await unaccounted(place.mkopo) : undefined;
    const hasFailed = problem !== undefined || testInfo.status !== testInfo.expectedStatus;
    if (hasFailed) await report(place, testInfo);
    await place.giveBack(hasFailed);
    if (problem) throw new Error(problem);
  },
  baseURL: async ({ mkopo }, use) => use(mkopo.url),
});

/** The failure to report unless every shilling is known to be accounted for. */
async function unaccounted(mkopo: Mkopo): Promise<string | undefined> {
  try {
    const invariant = await mkopo.invariant();
    return invariant.ok ? undefined : `Not every shilling is accounted for: ${JSON.stringify(invariant)}`;
  } catch (error) {
    return `It could not be checked that every shilling is accounted for: ${String(error)}`;
  }
}

/** Where the sandbox of a failed test is. */
function keptAt({ url, consoleUrl }: Mkopo): string {
  return endsWithTheRun()
    ? 'It ended with the test; with MKOPO_URL set, it would have been kept.'
    : `It is kept for 24 hours, or until a later test needs its place: ${url}, console ${consoleUrl ?? 'off'}`;
}

/** Adds to the report what the portal knows, and where the sandbox is. */
async function report({ mkopo, whereabouts }: Place, testInfo: TestInfo): Promise<void> {
  testInfo.annotations.push({ type: 'sandbox', description: `${mkopo.name}. ${whereabouts}` });
  const text = await whatHappened(mkopo).catch((error: unknown) => `It could not be asked: ${String(error)}`);
  await testInfo.attach('what the portal knew', { body: text, contentType: 'text/plain' });
  const har = await mkopo.traffic.har().catch(() => undefined);
  if (har)
    await testInfo.attach('traffic.har', {
      body: JSON.stringify(har, null, 2),
      contentType: 'application/json',
    });
  console.error(`\n${text}\n${whereabouts}\n`);
}
