import { defineConfig } from '@playwright/test';

// Run by failing.spec.ts, with the portal of its own run unless it says otherwise.
export default defineConfig({
  testMatch: '*.fails.ts',
  ...(process.env.MKOPO_URL === undefined && { globalSetup: 'mkopo-test/portal' }),
  outputDir: '../../../../test-results/testkit-fails',
  reporter: [['list'], ['./har-reporter.ts']],
  workers: 1,
});
