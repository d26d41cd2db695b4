import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';

const root = join(import.meta.dirname, '..');

/** The password of every demo account. */
export const PASSWORD = 'Mkopo-demo-1';

/** The program under test. */
export const BINARY = process.env.MKOPO_BINARY ?? join(root, 'server/target/debug/mkopo');

/** A running portal that all journeys use; without one, each journey starts its own. */
export const DEPLOYED = process.env.MKOPO_E2E_URL;

/** The address of the console of that portal. */
export const DEPLOYED_CONSOLE = process.env.MKOPO_E2E_CONSOLE_URL ?? '';

/** The token of the console of the portal under test. */
export const CONSOLE_TOKEN = process.env.MKOPO_E2E_CONSOLE_TOKEN ?? 'the-token-of-the-journeys';

/** A running server: the addresses of the portal and of the console. */
interface Server {
  address: string;
  console: string;
}

/** Starts the real server on two free ports with new demo data. */
export async function startServer(environment: Record<string, string> = {}) {
  const data = await mkdtemp(join(tmpdir(), 'mkopo-e2e-'));
  const server = spawn(BINARY, ['serve'], {
    env: {
      ...process.env,
      MKOPO_DEMO: 'true',
      MKOPO_DATA_DIR: data,
      MKOPO_PORTAL_DIR: join(root, 'dist/portal'),
      MKOPO_LISTEN: '127.0.0.1:0',
      MKOPO_CONSOLE_TOKEN: CONSOLE_TOKEN,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const { address, console } = await new Promise<Server>((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      lines.push(line);
      const listening = /"message":"listening","address":"([^"]+)","console":"([^"]+)"/.exec(line);
      if (listening) resolve({ address: `http://${listening[1]}`, console: `http://${listening[2]}` });
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
  return { address, console, stop };
}

/** Resets the running portal to new demo data, without the settings of earlier journeys. */
async function startOver(console: string) {
  const answer = await fetch(`${console}/console/api/data/reset`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${CONSOLE_TOKEN}` },
  });
  if (!answer.ok) throw new Error(`the data of ${console} could not be reset: HTTP ${answer.status}`);
}

/** The messages that the server has sent. */
interface Outbox {
  /** The newest one-time code sent to an email address or a phone (+254…). */
  code: (to: string) => Promise<string>;
}

/** Reads the outbox with the console's API, which waits until there is a message. */
function outboxOf(console: string): Outbox {
  return {
    code: async (to) => {
      const messages = `${console}/console/api/outbox?${new URLSearchParams({ to, wait: '10s' }).toString()}`;
      const answer = await fetch(messages, { headers: { Authorization: `Bearer ${CONSOLE_TOKEN}` } });
      const [newest] = (await answer.json()) as { code: string | null }[];
      expect(newest?.code, `a code for ${to}`).toMatch(/^\d{6}$/);
      return newest?.code ?? '';
    },
  };
}

interface Fixtures {
  /** Further settings of the server. */
  settings: Record<string, string>;
  server: Server;
  serverAddress: string;
  consoleAddress: string;
  outbox: Outbox;
  /** Errors that the page may log when a journey breaks something on purpose. */
  expectedError: RegExp | null;
  quietConsole: undefined;
}

/**
 * Every journey has new demo data, on its own server unless `MKOPO_E2E_URL` names one, and fails if the
 * page logs an error.
 */
export const test = base.extend<Fixtures>({
  settings: [{}, { option: true }],
  server: async ({ settings }, use) => {
    if (DEPLOYED) {
      base.skip(Object.keys(settings).length > 0, 'needs its own server');
      await startOver(DEPLOYED_CONSOLE);
      await use({ address: DEPLOYED, console: DEPLOYED_CONSOLE });
      return;
    }
    const { stop, ...server } = await startServer(settings);
    await use(server);
    await stop();
  },
  serverAddress: async ({ server }, use) => use(server.address),
  consoleAddress: async ({ server }, use) => use(server.console),
  expectedError: [null, { option: true }],
  outbox: async ({ server }, use) => use(outboxOf(server.console)),
  baseURL: async ({ serverAddress }, use) => use(serverAddress),
  quietConsole: [
    async ({ page, expectedError }, use) => {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => {
        // The browser logs every failed call, and journeys make calls fail on purpose.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          errors.push(message.text());
      });
      await use(undefined);
      const unexpected = errors.filter((error) => !expectedError?.test(error));
      expect(unexpected, 'errors in the page').toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Signs in by password on the screen. */
export async function signIn(page: Page, who: 'admin' | 'supervisor' | 'agent' = 'agent') {
  await page.goto('/login');
  await page.getByLabel('Email').fill(`${who}@mkopo.test`);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
}

/** Checks the page against WCAG 2.2 AA, once its animations are done. */
export async function expectAccessible(page: Page) {
  await page.waitForFunction(isStill);
  const { violations } = await new AxeBuilder({ page })
    // Off by default, although WCAG 2.5.3 requires it.
    .options({ rules: { 'label-content-name-mismatch': { enabled: true } } })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => ({ id, at: nodes.map((node) => node.html) }))).toEqual([]);
}

/** Runs in the page: an element that fades in does not have its final colors yet. Spinners never stop, and are ignored. */
export function isStill() {
  const isMoving = document
    .getAnimations()
    .some(
      ({ playState, effect }) => playState === 'running' && effect?.getComputedTiming().endTime !== Infinity,
    );
  return !isMoving && !document.querySelector('[class*="-appear"], [class*="-enter"], [class*="-leave"]');
}
