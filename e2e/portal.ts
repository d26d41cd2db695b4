import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';

const root = join(import.meta.dirname, '..');

/** The password of every demo account. */
export const PASSWORD = 'Mkopo-demo-1';

/** Starts the real server on a free port with fresh demo data; answers its address, its data folder and how to stop it. */
async function startServer(environment: Record<string, string> = {}) {
  const data = await mkdtemp(join(tmpdir(), 'mkopo-e2e-'));
  const binary = process.env.MKOPO_BINARY ?? join(root, 'server/target/debug/mkopo');
  const server = spawn(binary, ['serve'], {
    env: {
      ...process.env,
      MKOPO_DEMO: 'true',
      MKOPO_DATA_DIR: data,
      MKOPO_PORTAL_DIR: join(root, 'dist/portal'),
      MKOPO_LISTEN: '127.0.0.1:0',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      lines.push(line);
      const listening = /"message":"listening","address":"([^"]+)"/.exec(line);
      if (listening) resolve(`http://${listening[1]}`);
    });
    server.on('exit', (code) =>
      reject(new Error(`the server ended with ${String(code)}:\n${lines.join('\n')}`)),
    );
  });
  const stop = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  return { address, data, stop };
}

/** What the server has sent to people. */
interface Outbox {
  /** The newest one-time code that went to an e-mail address or a phone (+254…). */
  code: (to: string) => Promise<string>;
}

// The console's outbox call takes this one's place once there is one; Node 20 reads no SQLite.
const NEWEST_CODE = `
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
found = database.execute(
    "SELECT code FROM outbox_message WHERE recipient = ? AND code IS NOT NULL"
    " ORDER BY created_at DESC, message_id DESC LIMIT 1",
    (sys.argv[2],),
).fetchone()
print(found[0] if found else "")
`;

function outboxIn(data: string): Outbox {
  return {
    code: async (to) => {
      const { stdout } = await promisify(execFile)('python3', [
        '-c',
        NEWEST_CODE,
        join(data, 'mkopo.db'),
        to,
      ]);
      expect(stdout.trim(), `a code for ${to}`).toMatch(/^\d{6}$/);
      return stdout.trim();
    },
  };
}

interface Fixtures {
  server: { address: string; data: string };
  serverAddress: string;
  outbox: Outbox;
  /** What the page may log as an error, where a journey breaks something on purpose. */
  expectedError: RegExp | null;
  quietConsole: undefined;
}

/** Every journey has a server of its own, and fails on anything that the page logs as an error. */
export const test = base.extend<Fixtures>({
  server: async ({}, use) => {
    const { address, data, stop } = await startServer();
    await use({ address, data });
    await stop();
  },
  serverAddress: async ({ server }, use) => use(server.address),
  expectedError: [null, { option: true }],
  outbox: async ({ server }, use) => use(outboxIn(server.data)),
  baseURL: async ({ serverAddress }, use) => use(serverAddress),
  quietConsole: [
    async ({ page, expectedError }, use) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        // The browser logs every failed call by itself; journeys make calls fail on purpose.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          complaints.push(message.text());
      });
      await use(undefined);
      const unexpected = complaints.filter((complaint) => !expectedError?.test(complaint));
      expect(unexpected, 'errors in the page').toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Signs in by password through the screen. */
export async function signIn(page: Page, who: 'admin' | 'supervisor' | 'agent' = 'agent') {
  await page.goto('/login');
  await page.getByLabel('Email').fill(`${who}@mkopo.test`);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
}

/** Holds the page as it is now against WCAG 2.2 AA. */
export async function expectAccessible(page: Page) {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => ({ id, at: nodes.map((node) => node.html) }))).toEqual([]);
}
