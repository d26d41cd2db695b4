import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The options with which Playwright starts the Chromium of this machine. */
export function browserOptions(...more) {
  const executablePath = execFileSync(join(import.meta.dirname, 'chromium'), ['--path'], {
    encoding: 'utf8',
  }).trim();
  return {
    ...(executablePath && { executablePath }),
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  };
}
