/**
 * Fills `src/theme/antd.css`: the styles of the components that the kit takes from antd, which antd would otherwise
 * generate in the browser (`zeroRuntime` of its theme). `ThemeProvider` sets the variables that they read.
 */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Those that `mfe-kit/ui-data` exports, and what they draw. */
const COMPONENTS = ['Button', 'Empty', 'Modal', 'Select', 'Switch'];

export default function () {
  // The build's cache is valid while these are the same.
  this.addDependency(import.meta.filename);
  this.addDependency(require.resolve('antd/package.json'));
  const { extractStyle } = require('@ant-design/static-style-extract');
  const { ConfigProvider } = require('antd');
  const { createElement } = require('react');
  const styles = extractStyle({
    includes: COMPONENTS,
    customTheme: (components) => createElement(ConfigProvider, { theme: { hashed: false } }, components),
  });
  // In a layer, so that our own styles win.
  return `@layer antd{${styles}}`;
}
