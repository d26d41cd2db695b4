import { defineConfig } from '@playwright/test';

// Run by failing.spec.ts, with the portal of its own run.
export default defineConfig({
  testMatch: '*.fails.ts',
  outputDir: '../../../../test-results/testkit-fails',
  reporter: [['list'], ['./evidence-reporter.ts']],
  workers: 1,
});
