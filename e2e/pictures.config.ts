import { defineConfig } from '@playwright/test';
import journeys from './playwright.config';

/** Takes pictures of the screens in place of checking them, into `dist/pictures`: `make pictures`. */
export default defineConfig(journeys, { testDir: 'pictures' });
