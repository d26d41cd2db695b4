/**
 * The one webpack configuration of the shell and of every slice.
 *
 * The shared libraries are derived from mfe-kit's package.json: its `peerDependencies`, and every entry of
 * its `exports` that runs in the portal. The shell brings them; a slice only uses them
 * (`import: false`), so no slice ships a second copy and antd's contexts exist once.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/webpack';
import MiniCssExtractPlugin from 'mini-css-extract-plugin';
import TerserPlugin from 'terser-webpack-plugin';
import webpack from 'webpack';
import { ChunkList } from './chunks.mjs';
import { CompressAhead } from './compress.mjs';
import { PortalPage } from './page.mjs';
import { bringsOf } from './manifest.mjs';
import { SliceManifest } from './slice-manifest.mjs';

const require = createRequire(import.meta.url);

const kit = readPackage(join(import.meta.dirname, '..'));

/** Entries that are loaded on demand; the others are in the shell's first bundle. */
const LOADED_WHEN_NEEDED = new Set(['mfe-kit/ui-layout', 'mfe-kit/ui-data']);

/** Files with such a name never change; the shell's are in `assets/`, so that a server can tell. */
const HASHED = '[name].[contenthash:10]';

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

/** Modules of development builds. */
const REFRESHABLE = join(import.meta.dirname, 'refreshable.mjs');
const RELOAD = join(import.meta.dirname, 'reload.mjs');

/**
 * A slice runs in the production shell and in its development build, so it creates elements in the way that
 * both understand.
 */
const PRODUCTION_JSX = {
  'react/jsx-runtime$': join(
    dirname(require.resolve('react/package.json')),
    'cjs/react-jsx-runtime.production.js',
  ),
  'react/jsx-dev-runtime$': join(import.meta.dirname, 'jsx-dev-runtime.mjs'),
};

/** Kit entries that are not part of a running portal. */
const NOT_SHARED = /^\.\/(testing.*|build\/.*|.*\.(css|json))$/;

/** The configuration of a slice, which exposes `./slice` from `src/slice.tsx`. */
export function sliceBuild(folder) {
  return (_env, { mode }) => {
    const slice = readPackage(folder);
    const config = base(folder, slice, mode, { refreshes: mode === 'development' });
    return {
      ...config,
      entry: {},
      resolve: { ...config.resolve, alias: PRODUCTION_JSX },
      plugins: [
        ...basePlugins(mode),
        ...(mode === 'development' ? refreshing(folder) : []),
        new ModuleFederationPlugin({
          ...federation(slice, { externalRuntime: true }, { disableRemote: true }),
          manifest: true,
          exposes: { './slice': { import: './src/slice.tsx', name: 'slice' } },
          shared: shared(() => ({ import: false }), slice.peerDependencies),
        }),
        new SliceManifest(bringsOf(slice)),
      ],
    };
  };
}

/**
 * The configuration of the shell: the page, and everything that is shared. With `refreshes`, its own parts and the
 * kit's can be refreshed, too.
 */
export function shellBuild(folder) {
  return ({ refreshes = false } = {}, { mode }) => {
    const shell = readPackage(folder);
    const config = base(folder, shell, mode, { refreshes });
    return {
      ...config,
      // A development build can refresh the screens of a slice with their state.
      entry: { shell: [...(mode === 'development' ? [REFRESHABLE] : []), './src/main.tsx'] },
      output: {
        ...config.output,
        publicPath: '/',
        filename: mode === 'production' ? hashedOnceKnown : '[name].js',
        chunkFilename: mode === 'production' ? `assets/${HASHED}.js` : '[name].js',
      },
      plugins: [
        ...basePlugins(mode, 'assets/'),
        ...(refreshes ? [refresh()] : []),
        new ModuleFederationPlugin({
          ...federation(shell, { provideExternalRuntime: true }),
          manifest: false,
          shared: shared((name) => ({ eager: !LOADED_WHEN_NEEDED.has(name) })),
        }),
        new PortalPage({
          template: join(folder, 'src/index.html'),
          demoNotice: join(folder, 'src/notices/demo-notice.json'),
          frame: ['src/layout/MainLayout.tsx', ...LOADED_WHEN_NEEDED],
        }),
      ],
    };
  };
}

/** The configuration of a page that is neither: static, with the given modules by their names. */
export function pageBuild(folder, name, modules) {
  const config = base(folder, { name }, 'production');
  return {
    ...config,
    resolve: { ...config.resolve, alias: modules },
    plugins: basePlugins('production'),
  };
}

/** What all have in common; with `refreshes`, screens can be refreshed. */
function base(folder, { name }, mode, { refreshes = false } = {}) {
  const production = mode === 'production';
  return {
    mode,
    context: folder,
    target: ['web', 'es2022'],
    devtool: production ? 'source-map' : 'cheap-module-source-map',
    output: {
      path: join(folder, 'dist'),
      clean: true,
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
      // A screen is one file, which the page preloads by its name: what two screens share is in both.
      splitChunks: { minSize: 30_000 },
      minimizer: [new TerserPlugin({ minify: TerserPlugin.swcMinify, extractComments: false })],
    },
    performance: false, // `npm run size` checks the budget per page, compressed.
    cache: { type: 'filesystem', buildDependencies: { config: [import.meta.filename] } },
    infrastructureLogging: { level: 'warn' },
    stats: 'errors-warnings',
  };
}

/** Refreshes screens after a change, or reloads the page; in every entry, and so in the container. */
function refreshing(folder) {
  return [new webpack.EntryPlugin(folder, RELOAD, { name: undefined }), refresh()];
}

/** Only development has the plugin installed. */
function refresh() {
  const ReactRefreshPlugin = require('@pmmmwh/react-refresh-webpack-plugin');
  return new ReactRefreshPlugin({ overlay: false });
}

/** Federation reads the first file's path before its content is known, and uses only the folder. */
function hashedOnceKnown({ chunk }) {
  return chunk?.contentHash?.javascript ? `assets/${HASHED}.js` : '[name].js';
}

function basePlugins(mode, folder = '') {
  const production = mode === 'production';
  const css = production ? `${folder}${HASHED}.css` : '[name].css';
  return [
    new MiniCssExtractPlugin({ filename: css, chunkFilename: css }),
    ...(production ? [new ChunkList(), new CompressAhead()] : []),
  ];
}

/** Only the shell brings federation's runtime; otherwise every slice would have 18 KB of it. */
function federation({ name }, runtime = {}, unused = {}) {
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
function shared(extra, wanted = {}) {
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

/** The name of a slice's container on the page, a JavaScript identifier. */
function containerName(packageName) {
  return packageName.replaceAll('-', '_');
}

function readPackage(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
