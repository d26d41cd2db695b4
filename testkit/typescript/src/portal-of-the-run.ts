import type { Addresses } from './portal';
import { startPortal } from './start-portal';

/** Set where the portal was started for this run, and ends with it. */
const STARTED = 'MKOPO_TEST_STARTED';

/** Playwright's `globalSetup`: starts a portal for all workers unless `MKOPO_URL` names one. */
export default async function portalOfTheRun(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.MKOPO_URL) {
    addressesOfTheRun();
    return undefined;
  }
  const { stop, url, consoleUrl, consoleToken } = await startPortal();
  // The workers inherit them.
  Object.assign(process.env, {
    MKOPO_URL: url,
    MKOPO_CONSOLE_URL: consoleUrl,
    MKOPO_CONSOLE_TOKEN: consoleToken,
    [STARTED]: 'true',
  });
  return stop;
}

/** The addresses of the portal under test. */
export function addressesOfTheRun(): Addresses {
  const { MKOPO_URL, MKOPO_CONSOLE_URL, MKOPO_CONSOLE_TOKEN } = process.env;
  if (!MKOPO_URL)
    throw new Error(
      "There is no portal to test: add globalSetup: 'mkopo-test/portal' to playwright.config.ts, or set " +
        'MKOPO_URL, MKOPO_CONSOLE_URL and MKOPO_CONSOLE_TOKEN.',
    );
  if (!MKOPO_CONSOLE_URL || !MKOPO_CONSOLE_TOKEN)
    throw new Error('MKOPO_URL is set; set MKOPO_CONSOLE_URL and MKOPO_CONSOLE_TOKEN too.');
  return { url: MKOPO_URL, consoleUrl: MKOPO_CONSOLE_URL, consoleToken: MKOPO_CONSOLE_TOKEN };
}

/** Returns whether sandboxes end with this run, because their portal does. */
export function endsWithTheRun(): boolean {
  return process.env[STARTED] === 'true';
}
