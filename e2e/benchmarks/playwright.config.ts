import { defineConfig } from '@playwright/test';
import journeys from '../playwright.config';

/** What the portal may cost, measured in the browser; run alone on the machine: ratios need quiet. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  testMatch: '*.bench.ts',
  outputDir: '../../test-results',
  use: { ...journeys.use, trace: 'off' },
  fullyParallel: false,
  workers: 1,
});
