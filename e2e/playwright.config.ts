import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const chromium = execFileSync(join(import.meta.dirname, 'chromium'), ['--path'], { encoding: 'utf8' }).trim();

/** A running portal is shared by all journeys, so they run one after the other. */
const isDeployed = Boolean(process.env.MKOPO_E2E_URL);

export default defineConfig({
  testDir: 'journeys',
  globalSetup: join(import.meta.dirname, 'shared-server.ts'),
  outputDir: '../test-results',
  // What is recorded is the same on every system.
  snapshotPathTemplate: '{testDir}/recorded/{arg}{ext}',
  reporter: [['list']],
  fullyParallel: true,
  workers: isDeployed ? 1 : 2,
  // These deploy slices to the server; with slices in containers, nothing is deployed to it.
  ...(isDeployed && { testIgnore: /slices\.spec/ }),
  retries: 0,
  // A slow payout takes 8 s before the server stops waiting, and CI's machines are small.
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  use: {
    locale: 'en-KE',
    timezoneId: 'Africa/Nairobi',
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(chromium && { executablePath: chromium }),
      args: [
        '--no-sandbox',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
