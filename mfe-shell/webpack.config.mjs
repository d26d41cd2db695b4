import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/webpack';
import {
  base,
  basePlugins,
  federation,
  HASHED,
  LOADED_WHEN_NEEDED,
  readPackage,
  refresh,
  shared,
} from '../mfe-kit/build/base.mjs';
import { PortalPage } from './build/page.mjs';

const folder = import.meta.dirname;

/**
 * The configuration of the shell: the page, and everything that is shared. With `refreshes`, its own parts and the
 * kit's can be refreshed, too.
 */
export default ({ refreshes = false }, { mode }) => {
  const shell = readPackage(folder);
  const config = base(folder, shell, mode, { config: import.meta.filename, refreshes });
  // A development build can refresh the screens of a slice with their state.
  const refreshable = mode === 'development' ? ['./build/refreshable.mjs'] : [];
  return {
    ...config,
    entry: { shell: [...refreshable, './src/main.tsx'] },
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

/** Federation reads the first file's path before its content is known, and uses only the folder. */
function hashedOnceKnown({ chunk }) {
  return chunk?.contentHash?.javascript ? `assets/${HASHED}.js` : '[name].js';
}
