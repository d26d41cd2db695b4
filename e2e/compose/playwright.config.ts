import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config';

/** Tests of a running stack in containers; `../compose-test` starts it and sets its address. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  outputDir: '../../test-results',
  fullyParallel: false,
  workers: 1,
  // The tests build images and start containers.
  timeout: 600_000,
});
