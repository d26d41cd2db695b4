import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const root = join(import.meta.dirname, '../..');
const chromium = execFileSync(join(root, 'e2e/chromium'), ['--path'], { encoding: 'utf8' }).trim();

// The program and the portal of this repository, unless others are given.
process.env.MKOPO_BINARY ??= join(root, 'server/target/debug/mkopo');
process.env.MKOPO_PORTAL_DIR ??= join(root, 'dist/portal');

export default defineConfig({
  testDir: 'tests',
  outputDir: '../../test-results/testkit',
  globalSetup: './src/portal-of-the-run.ts',
  reporter: [['list']],
  fullyParallel: true,
  workers: 8,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  use: {
    locale: 'en-KE',
    timezoneId: 'Africa/Nairobi',
    launchOptions: {
      ...(chromium && { executablePath: chromium }),
      args: [
        '--no-sandbox',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
      ],
    },
  },
});
