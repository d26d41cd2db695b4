import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Page } from '@playwright/test';
import { freePorts } from '../../tools/machine/ports.mjs';
import { signInHere } from '../acts';
import { BINARY } from '../binary';
import { expect, test as base } from '../test';

const root = join(import.meta.dirname, '../..');

/** Stands for cargo, which takes long: what it builds is the program of before, unless the source has an error. */
const CARGO = `#!/bin/bash
if grep -q 'an error' server/src/main.rs; then echo 'error: expected one of' >&2; exit 101; fi
cp "$MKOPO_BINARY" "$MKOPO_BINARY.new" && mv "$MKOPO_BINARY.new" "$MKOPO_BINARY"
`;

/** Everything is compiled without any cache, on machines that do other things, too. */
const COMPILING_MS = 180_000;

/** As browsers ask for a page, which the path of any screen has. */
const HTML = { headers: { accept: 'text/html' } };

/** The timeout of waits for a compiler: on a busy machine, only these take longer than the usual 10 s. */
const ONCE_COMPILED = { timeout: COMPILING_MS };

interface Sources {
  folder: string;
  edit: (file: string, from: string, to: string) => Promise<void>;
}

/** `make dev`, and what it has printed. */
interface Dev {
  url: string;
  process: ChildProcess;
  printed: () => string;
}

const test = base.extend<{ sources: Sources; dev: Dev }>({
  /** A copy of what is edited, with the installed packages. */
  sources: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-dev-'));
    const packages = (await readdir(root)).filter((name) => name.startsWith('mfe-'));
    const filter = (path: string) => !/\/(dist|node_modules)$/.test(path);
    for (const name of [...packages, 'tools'])
      await cp(join(root, name), join(folder, name), { recursive: true, filter });
    await mkdir(join(folder, 'node_modules'));
    for (const name of await readdir(join(root, 'node_modules'))) {
      const place = packages.includes(name) ? folder : join(root, 'node_modules');
      if (!name.startsWith('.')) await symlink(join(place, name), join(folder, 'node_modules', name));
    }
    for (const name of ['contract', 'server/src', 'bin'])
      await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, 'server/src/main.rs'), 'fn main() {}');
    await writeFile(join(folder, 'bin/cargo'), CARGO, { mode: 0o755 });
    await cp(BINARY, join(folder, 'mkopo'));
    await use({
      folder,
      edit: async (file, from, to) => {
        const text = await readFile(join(folder, file), 'utf8');
        expect(text).toContain(from);
        // At once, as editors save: `writeFile` leaves it empty for a moment, and that would be built.
        writeFileSync(join(folder, file), text.replace(from, to));
      },
    });
    await rm(folder, { recursive: true, force: true });
  },
  dev: [
    async ({ sources: { folder }, page }, use) => {
      const port = await freePorts(3);
      const dev = spawn(process.execPath, [join(folder, 'tools/dev/dev.mjs')], {
        env: {
          PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter),
          HOME: process.env.HOME,
          PORT: String(port),
          MKOPO_BINARY: join(folder, 'mkopo'),
          MKOPO_DATA_DIR: join(folder, 'data'),
        },
      });
      let printed = '';
      for (const stream of [dev.stdout, dev.stderr])
        stream.on('data', (part: Buffer) => (printed += part.toString()));
      await expect.poll(() => printed, ONCE_COMPILED).toContain('The portal as you edit it');
      await use({ url: `http://localhost:${port}`, process: dev, printed: () => printed });
      // The page would report that its server is gone.
      await page.goto('about:blank');
      const ended = new Promise((resolve) => dev.once('exit', resolve));
      dev.kill('SIGINT');
      expect(await ended).toBe(130);
    },
    { timeout: COMPILING_MS + 30_000 },
  ],
});

// Only what waits for a compiler takes longer.
test.use({ actionTimeout: 60_000 });

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

test('with make dev, saves update the open page, which keeps its state, and restarts of the server keep the session', async ({
  page,
  sources: { edit },
  dev,
}) => {
  test.setTimeout(2 * COMPILING_MS);
  await page.goto(`${dev.url}/login`);
  await signInHere(page);
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(heading(page, 'Pending Disbursements')).toBeVisible();
  await page.getByRole('searchbox').fill('kamau');
  await page.evaluate(() => Object.assign(window, { isThePageOfBefore: true }));
  const isAsItWas = async () => {
    await expect(page.getByRole('searchbox')).toHaveValue('kamau');
    expect(await page.evaluate(() => 'isThePageOfBefore' in window)).toBe(true);
  };

  await test.step('a slice, and then the kit and the shell', async () => {
    const screen = 'mfe-loans/src/pending-loans/PendingLoansPage.tsx';
    await edit(screen, 'title={texts.pendingDisbursements} subtitle={t', 'title="Loans, edited" subtitle={t');
    await expect(heading(page, 'Loans, edited')).toBeVisible(ONCE_COMPILED);
    await edit('mfe-kit/src/ui/PageHeader.tsx', '<h1>{title}</h1>', '<h1>{title}!</h1>');
    await expect(heading(page, 'Loans, edited!')).toBeVisible(ONCE_COMPILED);
    await edit('mfe-shell/src/layout/Header.tsx', '<ThemeToggle />', 'Edited shell');
    await expect(page.getByText('Edited shell')).toBeVisible(ONCE_COMPILED);
    await isAsItWas();
  });

  await test.step('an error of the compiler is printed, and the server goes on', async () => {
    await edit('server/src/main.rs', '{}', '{ an error }');
    await expect
      .poll(dev.printed, ONCE_COMPILED)
      .toMatch(/error: expected one of[^]*the one before goes on running\./);
    expect((await page.request.get(`${dev.url}/readyz`)).status()).toBe(200);
  });

  await test.step('the server is restarted with its data, and the page goes on', async () => {
    await edit('server/src/main.rs', '{ an error }', '{ }');
    await expect.poll(dev.printed, ONCE_COMPILED).toMatch(/The server is restarted after \d+\.\d s/);
    await isAsItWas();
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await expect(heading(page, 'Dashboard!')).toBeVisible();
  });

  await test.step('what the server answers beside the page is passed on', async () => {
    for (const path of ['/open/unknown', '/story/told', '/deploy/slices', '/slices/unknown', '/docs/unknown'])
      expect((await page.request.get(`${dev.url}${path}`, HTML)).status(), path).not.toBe(200);
    const changed = await page.request.get(`${dev.url}/.well-known/change-password`, HTML);
    expect(changed.url()).toBe(`${dev.url}/password-reset`);
  });

  await test.step('pages of others, and other names of its address, are refused', async () => {
    const others: Record<string, string>[] = [{ origin: 'https://evil.example' }, { host: 'evil.example' }];
    for (const headers of others)
      for (const path of ['/@slice/mfe-loans/remoteEntry.js', '/slices.json', '/readyz'])
        expect((await page.request.get(`${dev.url}${path}`, { headers })).status(), path).toBe(403);
  });

  await test.step('a page that is opened after all that is new', async () => {
    await page.goto(`${dev.url}/pending-loans`);
    await expect(heading(page, 'Loans, edited!')).toBeVisible();
    await expect(page.getByText('Edited shell')).toBeVisible();
  });
});
