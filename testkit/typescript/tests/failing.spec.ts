import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { Portal, type Schemas, startPortal, VERSION } from 'mkopo-test/client';
import { consoleClient } from '../src/clients';
import { addressesOfTheRun } from '../src/portal-of-the-run';

const addresses = addressesOfTheRun();

/** Starts the tests of `fails-on-purpose/` that have this title. */
function start(title: string, settings: Record<string, string | undefined> = {}) {
  const config = join(import.meta.dirname, 'fails-on-purpose/playwright.config.ts');
  const cli = join(import.meta.dirname, '../../../node_modules/@playwright/test/cli.js');
  const environment = { ...process.env, TEST_WORKER_INDEX: undefined, TEST_PARALLEL_INDEX: undefined };
  // Each run empties its folder.
  const output = ['--output', test.info().outputPath('fails')];
  return promisify(execFile)(
    process.execPath,
    [cli, 'test', '--config', config, '--grep', title, ...output],
    { env: { ...environment, ...settings } },
  );
}

/** Runs the tests of `fails-on-purpose/` that have this title; returns what is printed. */
async function run(title: string, settings: Record<string, string | undefined> = {}): Promise<string> {
  const failed = start(title, settings);
  const { stdout, stderr } = await failed.then(
    () => Promise.reject(new Error(`'${title}' passed`)),
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  return `${stdout}\n${stderr}`;
}

/** The environment of a run against a portal. */
function settingsOf({ url, consoleUrl, consoleToken }: typeof addresses) {
  return { MKOPO_URL: url, MKOPO_CONSOLE_URL: consoleUrl, MKOPO_CONSOLE_TOKEN: consoleToken };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a failing test prints what the portal knew, without codes and tokens, and keeps its sandbox', async () => {
  const printed = await run('fails after a payout', { MKOPO_TEST_STARTED: undefined });
  expect(printed).toContain('Payouts');
  expect(printed).toMatch(/LN-FAILS {2}FAILED {2}KES 4321 {2}by agent@mkopo\.test/);
  expect(printed).toMatch(/POST \/api\/v1\/disbursements\/LN-FAILS\/disburse {2}422/);
  expect(printed).toContain('email to agent@mkopo.test');
  expect(printed).toMatch(/Faults that still apply:\n.*"path":"\/api\/v1\/auth\/me"/);
  expect(printed).not.toContain('"path":"/api/v1/auth/login"');
  expect(printed).toContain('••••••');
  const [, secrets] = /SECRETS (\[.*\])/.exec(printed) ?? [];
  const told = printed.replace(/SECRETS.*/, '').replace(/HAR .*/, '');
  for (const secret of JSON.parse(secrets ?? '') as string[])
    expect(told).not.toContain(Buffer.from(secret, 'base64').toString());

  const [, attached] = /HAR (.*)/.exec(printed) ?? [];
  const har = Buffer.from(attached ?? '', 'base64').toString();
  const { log } = JSON.parse(har) as Schemas['Har'];
  expect(log.comment).toMatch(/Seed: 1\. Start: .* Clock: .* Mobile money: \{.*\}\./);
  expect(log.entries.map(({ response }) => response.status)).toEqual([200, 422, 200, 200]);
  for (const secret of JSON.parse(secrets ?? '') as string[])
    expect(har).not.toContain(Buffer.from(secret, 'base64').toString());

  const [, name] = /The sandbox (\S+) at/.exec(printed) ?? [];
  const [, host, request] = /Trace: http:\/\/(\S+)\/console\/traces\?id=(\S+)/.exec(printed) ?? [];
  expect(host).toMatch(new RegExp(`^${name ?? ''}\\.localhost:`));
  expect(log.entries[1]?.comment).toContain(request);
  expect(printed).toMatch(new RegExp(`It is kept .*: http://${name ?? ''}\\.`));
  // It fails if the sandbox was not kept.
  await (await Portal.connect(addresses)).removeSandbox({ name: name ?? '' });
});

/** Writes a program that never listens, and tells its process in a file. */
async function neverListens() {
  const [program, pid] = [test.info().outputPath('never-listens'), test.info().outputPath('pid')];
  await writeFile(program, `#!/bin/sh\necho $$ >'${pid}'; exec sleep 600\n`, { mode: 0o755 });
  return { program, pid };
}

test('a portal that does not listen in time ends with the test', async () => {
  const { program, pid } = await neverListens();
  expect(await run('never listens', { MKOPO_BINARY: program })).toContain('timeout of 10000ms exceeded');
  const started = Number(await readFile(pid, 'utf8'));
  await expect.poll(() => isRunning(started)).toBe(false);
});

test('a run that is ended by a signal stops its portal', async () => {
  const { program, pid } = await neverListens();
  const run = start('never listens', { MKOPO_URL: undefined, MKOPO_BINARY: program });
  const ended = run.catch(() => undefined);
  const startedPid = () => existsSync(pid) && Number(readFileSync(pid, 'utf8'));
  await expect.poll(startedPid, { timeout: 60_000 }).toBeTruthy();
  run.child.kill();
  await ended;
  const started = Number(readFileSync(pid, 'utf8'));
  await expect.poll(() => isRunning(started)).toBe(false);
});

test('tests that fail leave no sandbox in a portal of the run', async () => {
  const { stop, ...portal } = await startPortal({ MKOPO_SANDBOXES: '1' });
  const printed = await run('more than sandboxes', { ...settingsOf(portal), MKOPO_TEST_STARTED: 'true' });
  expect(printed).toMatch(/2 failed[^]*1 passed/);
  expect(printed).toContain('It ended with the test; with MKOPO_URL set, it would have been kept.');
  await stop();
});

test('a test whose sandbox finds no place gets that of the oldest one that is kept', async () => {
  const { stop, ...portal } = await startPortal({ MKOPO_SANDBOXES: '2' });
  const printed = await run('more than sandboxes', {
    ...settingsOf(portal),
    MKOPO_TEST_STARTED: undefined,
  });
  expect(printed).toMatch(/2 failed[^]*1 passed/);
  const kept = /It is kept for 24 hours, or until a later test needs its place: http:\/\/([^.]+)\./g;
  const names = new Set([...printed.matchAll(kept)].map(([, name]) => name));
  expect(names.size).toBe(2);
  const console = consoleClient({ url: portal.consoleUrl, token: portal.consoleToken });
  const { data: left } = await console.GET('/console/api/sandboxes');
  // The test that passed took the place of another, and removed its own sandbox.
  expect(left?.map(({ name }) => name)).toEqual(['main', [...names].at(-1)]);
  await stop();
});

test('without a portal, the test says what to do', async () => {
  const printed = await run('fails after a payout', { MKOPO_URL: '', MKOPO_TEST_STARTED: undefined });
  expect(printed).toContain("add globalSetup: 'mkopo-test/portal' to playwright.config.ts");
});

test('options are refused with a sentence that says what is wrong', async () => {
  const printed = await run('is refused');
  expect(printed).toContain('A story says what the sandbox starts with: leave out `start`');
  expect(printed).toContain("Only a sandbox tells a story: leave out `sandboxPer: 'none'`");
  expect(printed).toContain("sandboxPer is 'tests', and must be 'worker', 'test' or 'none'");
});

for (const [said, refusal] of [
  [
    '{"info":{"version":"9.9.9"}}',
    `mkopo-test ${VERSION} is for portals of version ${VERSION}, and URL has 9.9.9. ` +
      'Install its own: npm install URL/kit/mkopo-test.tgz',
  ],
  ['<p>It works</p>', 'URL is not a Mkopo portal: it has no contract (HTTP 200)'],
] as const)
  test(`another service that says ${said} is refused at once`, async () => {
    const other = createServer((_, answer) => answer.end(said));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
    await expect(Portal.connect({ ...addresses, url })).rejects.toThrow(refusal.replaceAll('URL', url));
    await new Promise((resolve) => other.close(resolve));
  });

test('without the address of the console, a sandbox says what may be wrong', async () => {
  const portal = await Portal.connect({ ...addresses, consoleUrl: addresses.url });
  await expect(portal.makeSandbox()).rejects.toThrow(
    `${addresses.url}: it is not the address of the console, or MKOPO_SANDBOXES`,
  );
});
