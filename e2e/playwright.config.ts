import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const chromium = execFileSync(join(import.meta.dirname, 'chromium'), ['--path'], { encoding: 'utf8' }).trim();

/** Where a portal runs already; its data are everybody's, so journeys go through it one by one. */
const isDeployed = Boolean(process.env.MKOPO_E2E_URL);

export default defineConfig({
  testDir: 'journeys',
  outputDir: '../test-results',
  reporter: [['list']],
  fullyParallel: true,
  workers: isDeployed ? 1 : 2,
  // They deploy slices to the server; where slices have containers, nothing is deployed to it.
  ...(isDeployed && { testIgnore: /slices\.spec/ }),
  retries: 0,
  // A payout that is waited for takes 8 s of mobile money's patience, and CI's machines are small.
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
