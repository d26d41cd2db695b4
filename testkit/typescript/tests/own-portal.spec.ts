import { readFile, writeFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { expect, Portal, startPortal, test } from 'mkopo-test';
import { addressesOfTheRun } from '../src/portal-of-the-run';

const screensOf = async (url: string) => {
  const list = (await (await fetch(`${url}/slices.json`)).json()) as { portal: { screens?: string } };
  return list.portal.screens;
};

test.describe('a portal with settings', () => {
  test.use({ settings: { MKOPO_SCREENS: 'live', MKOPO_LOG: 'off' } });

  test('is started for the test, which has all verbs for it, whatever its log has', async ({ mkopo }) => {
    expect(mkopo.name).toBe('main');
    expect(mkopo.url).not.toBe(process.env.MKOPO_URL);
    expect(await screensOf(mkopo.url)).toBe('live');
    const agent = await mkopo.sessions.open('agent');
    expect(await agent.payOut(await mkopo.loans.approve())).toMatchObject({ status: 'COMPLETED' });
    expect(await (await fetch(mkopo.consoleUrl!)).text()).toContain('Sign in to the console');
    await mkopo.clock.advance('40d');
    await mkopo.reset();
    expect((await mkopo.invariant()).ok).toBe(true);
    expect(Math.abs(Date.now() - (await mkopo.clock.now()).getTime())).toBeLessThan(60_000);
  });

  test.describe('and a start', () => {
    const now = '2026-11-14T09:00:00.000Z';
    test.use({ start: { seed: 'empty', now, frozen: true } });

    test('starts there', async ({ mkopo }) => {
      expect((await mkopo.clock.now()).toISOString()).toBe(now);
      const agent = await mkopo.sessions.open('agent');
      expect(await agent.pendingLoans()).toEqual([]);
      expect(await screensOf(mkopo.url)).toBe('live');
    });
  });
});

test.describe('with another environment', () => {
  const before = process.env;
  test.afterEach(() => {
    process.env = before;
  });

  test('the program on the path comes first, whatever is empty here', async ({}, testInfo) => {
    await writeFile(testInfo.outputPath('mkopo'), '#!/bin/sh\nexit 7\n', { mode: 0o755 });
    process.env = { ...before, PATH: testInfo.outputDir, MKOPO_BINARY: '' };
    await expect(startPortal()).rejects.toThrow('/mkopo ended with 7');
  });

  test('each stack is apart from all others, and in demo mode whatever is set here', async ({}, testInfo) => {
    const [called, file] = [testInfo.outputPath('called'), testInfo.outputPath('docker-compose.yml')];
    await writeFile(file, '');
    await writeFile(testInfo.outputPath('docker'), `#!/bin/sh\nenv >>'${called}'\n`, { mode: 0o755 });
    process.env = {
      ...before,
      PATH: [testInfo.outputDir, before.PATH].join(delimiter),
      MKOPO_BINARY: undefined,
      MKOPO_COMPOSE_FILE: file,
      MKOPO_DATABASE_URL: 'postgres://real',
      MKOPO_DEMO: 'false',
      COMPOSE_PROFILES: 'postgres',
    };
    const started = [await startPortal(), await startPortal()];
    for (const { stop } of started) await stop();
    const text = await readFile(called, 'utf8');
    const valuesOf = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);
    const [one, other, ...whenStopped] = valuesOf('COMPOSE_PROJECT_NAME');
    expect(one).not.toBe(other);
    expect(whenStopped).toEqual([one, other]);
    expect(valuesOf('MKOPO_DEMO')).toEqual(Array(4).fill('true'));
    expect(valuesOf('COMPOSE_ENV_FILES')).toEqual(Array(4).fill('/dev/null'));
    expect(valuesOf('COMPOSE_PROFILES')).toEqual(Array(4).fill(''));
    expect(valuesOf('MKOPO_DATABASE_URL')).toEqual([]);
  });
});

test.describe('a sandbox that a test removes', () => {
  test.describe.configure({ mode: 'serial' });
  test.use({ checkInvariant: false });

  for (const nth of ['first', 'second'])
    test(`is made again: the ${nth} test`, async ({ mkopo }) => {
      await mkopo.sessions.open('agent');
      await (await Portal.connect(addressesOfTheRun())).removeSandbox(mkopo);
    });
});

test.describe('without sandboxes', () => {
  test.describe.configure({ mode: 'serial' });
  test.use({ sandboxPer: 'none' });

  for (const nth of ['first', 'second'])
    test(`the ${nth} test finds the portal itself at its start`, async ({ mkopo }) => {
      expect(mkopo).toMatchObject({ name: 'main', url: process.env.MKOPO_URL });
      expect((await mkopo.staff.list()).map(({ email }) => email)).not.toContain('left@example.com');
      expect(await mkopo.snapshots.list()).toEqual([]);
      await mkopo.staff.open({ email: 'left@example.com' });
      await mkopo.snapshots.save('left');
    });
});
