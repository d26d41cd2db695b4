import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { Portal, type Schemas, VERSION } from 'mkopo-test/client';
import ownPackage from '../package.json' with { type: 'json' };

const { MKOPO_URL, MKOPO_CONSOLE_URL, MKOPO_CONSOLE_TOKEN } = process.env;
const addresses = { url: MKOPO_URL!, consoleUrl: MKOPO_CONSOLE_URL!, consoleToken: MKOPO_CONSOLE_TOKEN! };

/** Runs the tests of `fails-on-purpose/` that have this title; returns what is printed. */
async function run(title: string, settings: Record<string, string | undefined> = {}): Promise<string> {
  const config = join(import.meta.dirname, 'fails-on-purpose/playwright.config.ts');
  const cli = join(import.meta.dirname, '../../../node_modules/@playwright/test/cli.js');
  const environment = { ...process.env, TEST_WORKER_INDEX: undefined, TEST_PARALLEL_INDEX: undefined };
  const failed = promisify(execFile)(process.execPath, [cli, 'test', '--config', config, '--grep', title], {
    env: { ...environment, ...settings },
  });
  const { stdout, stderr } = await failed.then(
    () => Promise.reject(new Error(`'${title}' passed`)),
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  return `${stdout}\n${stderr}`;
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
  expect(printed).toMatch(new RegExp(`It is kept: http://${name ?? ''}\\.`));
  const kept = await fetch(`${addresses.consoleUrl}/console/api/sandboxes/${name ?? ''}`, {
    headers: { Authorization: `Bearer ${addresses.consoleToken}` },
  });
  expect(kept.status).toBe(200);
  await (await Portal.connect(addresses)).removeSandbox({ name: name ?? '' });
});

test('a portal that does not listen in time ends with the test', async ({}, testInfo) => {
  const [program, pid] = [testInfo.outputPath('never-listens'), testInfo.outputPath('pid')];
  await writeFile(program, `#!/bin/sh\necho $$ >'${pid}'; exec sleep 600\n`, { mode: 0o755 });
  expect(await run('never listens', { MKOPO_BINARY: program })).toContain('timeout of 2000ms exceeded');
  const started = Number(await readFile(pid, 'utf8'));
  await expect.poll(() => isRunning(started)).toBe(false);
});

test('without a portal, the test says what to do', async () => {
  const printed = await run('fails after a payout', { MKOPO_URL: undefined });
  expect(printed).toContain("add globalSetup: 'mkopo-test/portal' to playwright.config.ts");
});

test('a story is refused with a start, and without sandboxes', async () => {
  const printed = await run('tells a story');
  expect(printed).toContain('A story says what the sandbox starts with: leave out `start`');
  expect(printed).toContain("Only a sandbox tells a story: leave out `sandboxPer: 'none'`");
});

test('a portal of another version is refused at once', async () => {
  const other = createServer((_, answer) => answer.end(JSON.stringify({ info: { version: '9.9.9' } })));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
  await expect(Portal.connect({ ...addresses, url })).rejects.toThrow(
    `mkopo-test ${VERSION} is for portals of version ${VERSION}, and ${url} has 9.9.9. ` +
      `Install its own: npm install ${url}/kit/mkopo-test.tgz`,
  );
  await new Promise((resolve) => other.close(resolve));
});

test('the version is that of the contract', async () => {
  const contract = (await (await fetch(`${addresses.url}/api/v1/openapi.json`)).json()) as {
    info: { version: string };
  };
  expect(ownPackage.version).toBe(contract.info.version);
});
