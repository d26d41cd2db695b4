import { defineConfig } from '@playwright/test';
import journeys from '../../e2e/playwright.config';

/** Benchmarks in the browser; run them alone on the machine, because they are sensitive to load. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  testMatch: '*.bench.ts',
  outputDir: '../../test-results',
  fullyParallel: false,
  workers: 1,
  timeout: 0,
});
