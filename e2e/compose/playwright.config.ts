import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config';

/** What is done to a stack in containers that runs: `../compose-test` starts it and says where. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  outputDir: '../../test-results',
  fullyParallel: false,
  workers: 1,
  // Images are built and containers started in between.
  timeout: 600_000,
});
