import { defineConfig } from 'vitest/config';

const tools = {
  test: {
    name: 'tools',
    include: ['tools/**/*.test.mjs'],
    restoreMocks: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
};

// On two cores, its default is one worker: 180 s in place of 119 s.
export default defineConfig({
  test: { maxWorkers: '100%', projects: ['mfe-*', tools] },
});
