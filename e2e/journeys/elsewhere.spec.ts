import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { freePorts } from '../../tools/machine/ports.mjs';
import { signInHere } from '../acts';
import { BINARY } from '../binary';
import { expect, test as base } from '../test';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** npm, which runs the journeys, tells nothing about this repository to another one. */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|MKOPO_|(INIT_CWD|CI|FORCE_COLOR)$)/.test(name)),
  ),
  NO_COLOR: '1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_prefer_offline: 'true',
};

type Words = Record<string, string>;

/** The repository of a team elsewhere. */
interface Repository {
  folder: string;
  /** Runs a program there, and returns what it prints. */
  run: (program: string, args: string[], settings?: Words) => Promise<string>;
  /** Runs the kit's own command there. */
  kit: (args: string[], settings?: Words) => Promise<string>;
  edit: (file: string, changes: Words) => Promise<void>;
}

interface Fixtures {
  repository: Repository;
}

const test = base.extend<Fixtures>({
  repository: async ({ mkopo }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-elsewhere-'));
    const runThere = async (program: string, args: string[], settings: Words = {}) => {
      const options = { cwd: folder, env: { ...environment, ...settings }, maxBuffer: 2 ** 26 };
      return (await run(program, args, options)).stdout;
    };
    const kit = (args: string[], settings?: Words) =>
      runThere(join(folder, 'node_modules/.bin/mfe-kit'), args, settings);
    await use({
      folder,
      run: runThere,
      kit,
      edit: async (file, changes) => {
        let text = await readFile(join(folder, file), 'utf8');
        for (const [from, to] of Object.entries(changes)) {
          expect(text).toContain(from);
          text = text.replaceAll(from, to);
        }
        // At once, as editors save: `writeFile` leaves it empty for a moment, and that would be built.
        writeFileSync(join(folder, file), text);
      },
    });
    await rm(folder, { recursive: true, force: true });
    await forget(mkopo.url);
  },
  settings: async ({}, use) => use({}),
});

/** npx keeps every kit that it ran, by its address. */
async function forget(address: string) {
  const { stdout } = await run('npm', ['config', 'get', 'cache'], { env: environment });
  const kept = join(stdout.trim(), '_npx');
  for (const name of await readdir(kept).catch(() => [])) {
    const installed = await readFile(join(kept, name, 'package.json'), 'utf8').catch(() => '');
    if (installed.includes(address)) await rm(join(kept, name), { recursive: true, force: true });
  }
}

/** A step that prints how long it took. */
async function timed(what: string, step: () => Promise<void>) {
  const started = Date.now();
  await test.step(what, step);
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${what}`);
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

test('a team elsewhere makes, tests, publishes and edits a slice with nothing but a portal', async ({
  page,
  repository,
  mkopo,
}) => {
  test.setTimeout(600_000);
  const { run, kit } = repository;
  const asOperator = ['--server', new URL(mkopo.consoleUrl ?? '').origin, '--token', mkopo.token];
  const addToken = ['slice', 'token', 'add', 'mfe-repayments', ...asOperator];
  const { stdout } = await promisify(execFile)(BINARY, addToken, { env: environment });
  const token = stdout.trim();
  const list = (await (await fetch(`${mkopo.url}/slices.json`)).json()) as {
    shell: { kit_package: { address: string; integrity: string } };
  };
  const newest = list.shell.kit_package;
  const started = Date.now();

  await timed('mfe-kit new, with npx', async () => {
    const answer = await fetch(`${mkopo.url}/kit/mfe-kit.tgz`, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe(newest.address);
    const kit = `${mkopo.url}${newest.address}`;
    await run('npx', ['--yes', '--package', kit, 'mfe-kit', 'new', 'repayments']);
  });
  await timed('npm install', async () => {
    await run('npm', ['install']);
    const lock = await readFile(join(repository.folder, 'package-lock.json'), 'utf8');
    expect(lock).toContain(newest.integrity);
    expect(lock).not.toContain(root);
  });
  await timed('its types', async () => {
    await run('npm', ['run', 'typecheck']);
  });
  await timed('its tests, in the shell of that portal', async () => {
    expect(await run('npm', ['test'])).toMatch(/Tests +\d+ passed/);
    expect(await kit(['check'])).toContain(`mfe-repayments 0.1.0 will load in ${mkopo.url}.\n`);
  });
  await timed('the first build is published, and is in the menu', async () => {
    const told = await run('npm', ['run', 'publish'], { MKOPO_DEPLOY_TOKEN: token });
    expect(told).toContain('mfe-repayments 0.1.0 is published; it is live.');
    console.log(`        from nothing to live: ${Math.round((Date.now() - started) / 1000)} s`);
    await mkopo.signIn(page, 'agent');
    await page.getByRole('link', { name: 'Repayments' }).click();
    await expect(heading(page, 'Repayments')).toBeVisible();
    await expect(page.getByText('24 loan(s)')).toBeVisible();
  });
  await timed(
    'in development a save updates the screen, and keeps its state and what was typed; the portal shows it, too',
    async () => {
      await saveWhileOpen(page, repository, mkopo.url);
    },
  );
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  in all`);
});

/** Runs `mfe-kit dev`, saves a file while its screen is open, and opens the screen in the running portal. */
async function saveWhileOpen(page: Page, { folder, edit }: Repository, portal: string) {
  const file = 'src/list/RepaymentsPage.tsx';
  await edit(file, {
    'import { useQuery }': "import { useState } from 'react';\nimport { useQuery }",
    'const query =': 'const [isOn, setOn] = useState(false);\n  const query =',
    '<QueryStates': `<button onClick={() => setOn(!isOn)}>{isOn ? 'On' : 'Off'}</button>
      <input aria-label="Remark" />
      <QueryStates`,
  });
  const port = String(await freePorts());
  const dev = spawn('npm', ['run', 'dev', '--', '--port', port], {
    cwd: folder,
    env: environment,
    detached: true,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      let told = '';
      for (const stream of [dev.stdout, dev.stderr])
        stream.on('data', (part: Buffer) => {
          told += part.toString();
          if (told.includes('as you edit it')) resolve();
        });
      dev.once('exit', () => reject(new Error(`mfe-kit dev ended:\n${told}`)));
    });
    await page.goto(`http://localhost:${port}/login`);
    await signInHere(page);
    await page.getByRole('link', { name: 'Repayments' }).click();
    await expect(heading(page, 'Repayments')).toBeVisible({ timeout: 60_000 });

    await page.getByRole('button', { name: 'Off', exact: true }).click();
    await page.getByRole('textbox', { name: 'Remark' }).fill('paid twice?');
    await page.evaluate(() => Object.assign(window, { isThePageOfBefore: true }));
    await edit(file, { 'title="Repayments"': 'title="Repayments, edited"' });
    await expect(heading(page, 'Repayments, edited')).toBeVisible({ timeout: 30_000 });
    await expect(page.getByRole('button', { name: 'On', exact: true })).toBeVisible();
    await expect(page.getByRole('textbox', { name: 'Remark' })).toHaveValue('paid twice?');
    expect(await page.evaluate(() => 'isThePageOfBefore' in window)).toBe(true);

    await page.goto(`${portal}/repayments?slice=mfe-repayments@http://localhost:${port}/@slice/`);
    await expect(heading(page, 'Repayments, edited')).toBeVisible();
  } finally {
    // The page would report that its server is gone.
    await page.goto('about:blank');
    const ended = new Promise((resolve) => dev.once('exit', resolve));
    if (dev.pid) process.kill(-dev.pid, 'SIGTERM');
    await ended;
  }
}
