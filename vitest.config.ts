import { defineConfig } from 'vitest/config';

const benchmarks = { test: { name: 'benchmarks', include: ['e2e/benchmarks/*.test.mjs'] } };

export default defineConfig({ test: { projects: ['mfe-*', 'mfe-kit/template', benchmarks] } });
