/**
 * The common part of the webpack configurations of the slices, of the shell and of the gallery.
 *
 * The shared libraries are derived from mfe-kit's package.json: its `peerDependencies`, and every entry of
 * its `exports` that runs in the portal. The shell brings them; a slice only uses them
 * (`import: false`), so no slice ships a second copy and antd's contexts exist once.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import MiniCssExtractPlugin from 'mini-css-extract-plugin';
import TerserPlugin from 'terser-webpack-plugin';
import webpack from 'webpack';
import { ChunkList, isUpdate } from './chunks.mjs';
import { CompressAhead } from './compress.mjs';

const require = createRequire(import.meta.url);

const kit = readPackage(join(import.meta.dirname, '..'));

/** Entries that are loaded on demand; the others are in the shell's first bundle. */
export const LOADED_WHEN_NEEDED = new Set(['mfe-kit/ui-layout', 'mfe-kit/ui-data']);

/** Files with such a name never change; the shell's are in `assets/`, so that a server can tell. */
export const HASHED = '[name].[contenthash:10]';

/** Reads style sheets; classes of modules are named after the package whose build has them. */
const styles = (name) => ({
  test: /\.css$/,
  use: [
    MiniCssExtractPlugin.loader,
    {
      loader: require.resolve('css-loader'),
      options: {
        modules: {
          auto: /\.module\.css$/,
          namedExport: false,
          exportLocalsConvention: 'as-is',
          localIdentName: `${name}_[name]_[local]`,
        },
      },
    },
  ],
  sideEffects: true,
});

/**
 * The time without a save after which webpack writes its cache, in milliseconds. A save during the write
 * waits until it ends, the first time for seconds, because webpack then looks up all that its configuration
 * imports.
 */
const IDLE_MS = 60_000;

/** Kit entries that are not part of a running portal. */
const NOT_SHARED = /^\.\/(testing.*|build\/.*|.*\.(css|json))$/;

/** The configuration that all start from; `config` is the file that completes it. With `refreshes`, screens can be refreshed. */
export function base(folder, { name }, mode, { config, refreshes = false }) {
  const production = mode === 'production';
  return {
    mode,
    context: folder,
    target: ['web', 'es2022'],
    // The server reads the maps to say where a slice crashed, and does not serve them: files do not name theirs.
    devtool: production ? 'hidden-source-map' : 'cheap-module-source-map',
    output: {
      path: join(folder, 'dist'),
      // webpack deletes hot updates after 10 s. A page that asks later is loaded again, and what was typed is lost.
      clean: { keep: isUpdate },
      uniqueName: name,
      publicPath: 'auto',
      crossOriginLoading: 'anonymous', // needed to check the integrity of files of other origins
      filename: production ? `${HASHED}.js` : '[name].js',
      chunkFilename: production ? `${HASHED}.js` : '[name].js',
    },
    resolve: { extensions: ['.tsx', '.ts', '.mjs', '.js'] },
    module: {
      rules: [
        {
          test: /\.tsx?$/,
          loader: require.resolve('swc-loader'),
          options: {
            jsc: {
              target: 'es2022',
              parser: { syntax: 'typescript', tsx: true },
              transform: { react: { runtime: 'automatic', development: refreshes, refresh: refreshes } },
            },
          },
        },
        styles(name),
        { test: /theme\/antd\.css$/, enforce: 'pre', loader: join(import.meta.dirname, 'antd-css.mjs') },
      ],
    },
    optimization: {
      // After a build that failed, hot reload would run on modules that it has disposed of.
      emitOnErrors: false,
      // A screen is one file, which the page preloads by its name: what two screens share is in both.
      splitChunks: { minSize: 30_000 },
      minimizer: [new TerserPlugin({ minify: TerserPlugin.swcMinify, extractComments: false })],
    },
    performance: false, // `npm run size` checks the budget per page, compressed.
    cache: {
      type: 'filesystem',
      buildDependencies: { config: [config] },
      idleTimeoutForInitialStore: IDLE_MS,
      idleTimeoutAfterLargeChanges: IDLE_MS,
    },
    infrastructureLogging: { level: 'error' },
    stats: 'errors-warnings',
  };
}

/** Only development has the plugin installed. */
export function refresh() {
  const ReactRefreshPlugin = require('@pmmmwh/react-refresh-webpack-plugin');
  return new ReactRefreshPlugin({ overlay: false });
}

export function basePlugins(mode, folder = '') {
  const production = mode === 'production';
  const css = production ? `${folder}${HASHED}.css` : '[name].css';
  return [
    new MiniCssExtractPlugin({ filename: css, chunkFilename: css }),
    ...(production ? [new ChunkList(), new CompressAhead()] : []),
  ];
}

/** Only the shell brings federation's runtime; otherwise every slice would have 18 KB of it. */
export function federation({ name }, runtime = {}, unused = {}) {
  return {
    name: containerName(name),
    filename: 'remoteEntry.js',
    dts: false,
    dev: false,
    shareStrategy: 'loaded-first',
    experiments: { ...runtime, optimization: { target: 'web', ...unused } },
  };
}

/** One copy of each; a slice's `peerDependencies` say which versions it accepts. */
export function shared(extra, wanted = {}) {
  const libraries = Object.entries(kit.peerDependencies).map(([name, range]) => [
    name,
    { singleton: true, strictVersion: true, requiredVersion: wanted[name] ?? range, ...extra(name) },
  ]);
  const entries = Object.keys(kit.exports)
    .filter((entry) => !NOT_SHARED.test(entry))
    .map((entry) => {
      const name = entry.replace(/^\./, kit.name);
      return [
        name,
        {
          singleton: true,
          strictVersion: true,
          version: kit.version,
          requiredVersion: wanted[kit.name] ?? `^${kit.version}`,
          ...extra(name),
        },
      ];
    });
  return Object.fromEntries([...libraries, ...entries]);
}

function containerName(packageName) {
  return packageName.replaceAll('-', '_');
}

/** Builds what a configuration describes. Fails with the errors of the sources. */
export async function build(config) {
  const stats = await new Promise((resolve, reject) => {
    const compiler = webpack(config);
    compiler.run((error, result) => compiler.close(() => (error ? reject(error) : resolve(result))));
  });
  if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
  if (stats.hasWarnings()) console.warn(stats.toString('errors-warnings'));
  return stats;
}

export function readPackage(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
