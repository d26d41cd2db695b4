import { defineConfig } from '@playwright/test';

// Run by failing.spec.ts, with the portal of its own run.
export default defineConfig({
  testMatch: '*.fails.ts',
  outputDir: '../../../../test-results/testkit-fails',
  reporter: [['list'], ['./har-reporter.ts']],
  workers: 1,
});
