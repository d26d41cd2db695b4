import { test as base, type TestInfo } from '@playwright/test';
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
  /** The test is done with it; after a failure, a sandbox is kept as it is. */
  giveBack: (hasFailed: boolean) => Promise<void> | void;
}

/** The sandboxes of one worker. */
class Sandboxes {
  /** Where the clocks of this worker start if a test does not say it. */
  readonly #now = exact({}).now;
  #portal: Portal | undefined;
  #ofWorker: Mkopo | undefined;

  /** A sandbox at its start, or at that of a story. */
  async get(per: SandboxPer, start: Start, story: string | undefined): Promise<Place> {
    this.#portal ??= await Portal.connect(addressesOfTheRun());
    const portal = this.#portal;
    if (story !== undefined) return ofTest(portal, { story });
    const known = exact({ now: this.#now, ...start });
    switch (per) {
      case 'none': {
        const mkopo = await portal.main();
        await mkopo.reset(start);
        return { mkopo, whereabouts: keptAt(mkopo), giveBack: () => {} };
      }
      case 'test':
        return ofTest(portal, known);
      case 'worker': {
        if (this.#ofWorker) await this.#ofWorker.reset(known);
        const mkopo = (this.#ofWorker ??= await portal.makeSandbox(known));
        const giveBack = (hasFailed: boolean) => {
          if (hasFailed) this.#ofWorker = undefined;
        };
        return { mkopo, whereabouts: keptAt(mkopo), giveBack };
      }
    }
  }

  async end(): Promise<void> {
    if (this.#ofWorker) await this.#portal?.removeSandbox(this.#ofWorker);
  }
}

/** A sandbox for one test. */
async function ofTest(portal: Portal, wanted: NewSandbox): Promise<Place> {
  const mkopo = await portal.makeSandbox(wanted);
  const giveBack = async (hasFailed: boolean) => {
    if (!hasFailed) await portal.removeSandbox(mkopo);
  };
  return { mkopo, whereabouts: keptAt(mkopo), giveBack };
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
    async ({}, use) => {
      findSandboxes();
      const sandboxes = new Sandboxes();
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
    ? 'It ended with the portal of this run; with MKOPO_URL set, it would have been kept.'
    : `It is kept: ${url}, console ${consoleUrl ?? 'off'}`;
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
