import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import journeys from '../../e2e/playwright.config';

export default defineConfig(journeys, {
  testDir: join(import.meta.dirname, 'tests'),
  outputDir: '../../test-results/testkit',
  use: { ...journeys.use, trace: 'off', screenshot: 'off' },
  workers: 4,
});
