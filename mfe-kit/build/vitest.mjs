import { fileURLToPath } from 'node:url';

/** The options of every package's tests: jsdom, and a network that has only the answers a test prepared. */
export const screenTests = {
  environment: 'jsdom',
  environmentOptions: { jsdom: { url: 'http://portal.test/' } },
  include: ['src/**/*.test.{ts,tsx}'],
  setupFiles: [fileURLToPath(import.meta.resolve('mfe-kit/testing/setup'))],
  // Enough for a machine that does ten other things; what takes longer than this never comes.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 15_000 } },
  css: { modules: { classNameStrategy: 'non-scoped' } },
  // They import styles, and antd's modules each other without extensions, which only a bundler resolves.
  server: { deps: { inline: [/mfe-kit/, /antd/, /@rc-component/, /@ant-design/] } },
  env: { TZ: 'Africa/Nairobi' },
  restoreMocks: true,
  unstubGlobals: true,
};
