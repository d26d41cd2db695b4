import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { browserOptions } from '../tools/machine/browser.mjs';
import { BINARY } from './binary';

// The program and the portal of this repository, unless others are given.
process.env.MKOPO_BINARY ??= BINARY;
process.env.MKOPO_PORTAL_DIR ??= join(import.meta.dirname, '../dist/portal');

/** A running portal is shared by all journeys, so they run one after the other. */
const { MKOPO_E2E_URL, MKOPO_E2E_CONSOLE_URL, MKOPO_E2E_CONSOLE_TOKEN } = process.env;
const isDeployed = Boolean(MKOPO_E2E_URL);
if (isDeployed)
  Object.assign(process.env, {
    MKOPO_URL: MKOPO_E2E_URL,
    MKOPO_CONSOLE_URL: MKOPO_E2E_CONSOLE_URL,
    MKOPO_CONSOLE_TOKEN: MKOPO_E2E_CONSOLE_TOKEN,
  });

export default defineConfig<{ sandboxPer: 'worker' | 'none' }>({
  testDir: 'journeys',
  globalSetup: process.env.MKOPO_E2E_EXPORT ? './exported-traces.ts' : 'mkopo-test/portal',
  outputDir: '../test-results',
  // The recorded snapshots are the same on every system.
  snapshotPathTemplate: '{testDir}/recorded/{arg}{ext}',
  reporter: [['list']],
  fullyParallel: true,
  // More than cores: a journey also waits, for a payout or for an animation.
  workers: isDeployed ? 1 : Math.ceil(availableParallelism() * 1.5),
  // These start portals of their own, one of them with `make dev`.
  ...(isDeployed && { testIgnore: /(dev|elsewhere|live|provider|slices|stories|traces)\.spec/ }),
  retries: 0,
  // Looking at every page for accessibility takes 49 s on two cores, and CI's machines are small.
  timeout: 120_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  use: {
    sandboxPer: isDeployed ? 'none' : 'worker',
    locale: 'en-KE',
    timezoneId: 'Africa/Nairobi',
    screenshot: 'only-on-failure',
    launchOptions: browserOptions(),
  },
});
