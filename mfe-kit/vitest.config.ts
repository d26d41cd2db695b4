import { screenTests } from 'mfe-kit/build/vitest';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    ...screenTests,
    name: 'mfe-kit',
    include: [...(screenTests.include ?? []), '{build,cli}/*.test.mjs', 'gallery/*.test.ts'],
  },
});
