export { expect } from '@playwright/test';
export { test } from './fixtures';
export * from './client';
