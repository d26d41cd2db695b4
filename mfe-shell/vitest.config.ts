import { screenTests } from 'mfe-kit/build/vitest';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    ...screenTests,
    name: 'mfe-shell',
    include: [...(screenTests.include ?? []), 'build/*.test.mjs'],
    setupFiles: [screenTests.setupFiles ?? [], 'src/testing/without-federation.ts'].flat(),
  },
});
