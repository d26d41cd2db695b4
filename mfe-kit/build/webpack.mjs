import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/webpack';
import webpack from 'webpack';
import { base, basePlugins, federation, readPackage, refresh, shared } from './base.mjs';
import { bringsOf, readsOf } from './manifest.mjs';
import { SliceManifest } from './slice-manifest.mjs';

const require = createRequire(import.meta.url);

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

/** The configuration of a slice, which exposes `./slice` from `src/slice.tsx`. */
export function sliceBuild(folder) {
  return (_env, { mode }) => {
    const slice = readPackage(folder);
    const config = base(folder, slice, mode, {
      config: import.meta.filename,
      refreshes: mode === 'development',
    });
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
        new SliceManifest({ brings: bringsOf(slice), reads: readsOf(slice) }),
      ],
    };
  };
}

/** Refreshes screens after a change, or reloads the page; in every entry, and so in the container. */
function refreshing(folder) {
  return [new webpack.EntryPlugin(folder, RELOAD, { name: undefined }), refresh()];
}
