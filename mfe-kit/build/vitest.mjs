/** How every package's tests run: in jsdom, with a network that has only the answers a test prepared. */
export const screenTests = {
  environment: 'jsdom',
  environmentOptions: { jsdom: { url: 'http://portal.test/' } },
  include: ['src/**/*.test.{ts,tsx}'],
  setupFiles: [new URL('../src/testing/setup.ts', import.meta.url).pathname],
  testTimeout: 20_000,
  css: { modules: { classNameStrategy: 'non-scoped' } },
  // antd's modules import each other without extensions, which only a bundler resolves.
  server: { deps: { inline: [/antd/, /@rc-component/, /@ant-design/] } },
  env: { TZ: 'Africa/Nairobi' },
  restoreMocks: true,
  unstubGlobals: true,
};
