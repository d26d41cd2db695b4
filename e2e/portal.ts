import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { findSandboxes, Portal } from 'mkopo-test/client';
import { CONSOLE_TOKEN, DEPLOYED, startServer, type Server } from './server';
import { sharedServer } from './shared-server';

export { BINARY, CONSOLE_TOKEN, DEPLOYED, startServer } from './server';

/** The password of every demo account. */
export const PASSWORD = 'Mkopo-demo-1';

/** The address of the console of the deployed portal. */
export const DEPLOYED_CONSOLE = process.env.MKOPO_E2E_CONSOLE_URL ?? '';

findSandboxes();

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
  /** Further settings of the server, which the journey then has to itself. */
  settings: Record<string, string>;
  /** Whether the journey needs a server to itself. */
  ownServer: boolean;
  server: Server;
  serverAddress: string;
  consoleAddress: string;
  outbox: Outbox;
  /** Errors that the page may log when a journey breaks something on purpose. */
  expectedError: RegExp | null;
  quietConsole: undefined;
}

/**
 * Every journey has new demo data and fails if the page logs an error. Its portal is a sandbox of the server
 * that all workers share, unless it needs a server to itself or `MKOPO_E2E_URL` names one.
 */
export const test = base.extend<Fixtures>({
  settings: [{}, { option: true }],
  ownServer: [false, { option: true }],
  server: async ({ settings, ownServer }, use) => {
    if (DEPLOYED) {
      base.skip(Object.keys(settings).length > 0, 'needs its own server');
      await startOver(DEPLOYED_CONSOLE);
      await use({ address: DEPLOYED, console: DEPLOYED_CONSOLE });
      return;
    }
    if (ownServer || Object.keys(settings).length > 0) {
      const { stop, ...server } = await startServer(settings);
      await use(server);
      await stop();
      return;
    }
    const portal = await Portal.connect(sharedServer());
    const sandbox = await portal.makeSandbox();
    await use({ address: sandbox.url, console: new URL(sandbox.consoleUrl ?? '').origin });
    await portal.removeSandbox(sandbox);
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
