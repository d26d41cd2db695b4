/**
 * Packs the kit for slices in other repositories: `dist/mfe-kit-<version>.tgz`, with compiled modules, the
 * build, the test kit, the template, the command, and a development build of the shell.
 *
 *     npm run pack --workspace mfe-kit
 */
import { copyFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from '../../mfe-kit/build/base.mjs';
import shellConfig from '../../mfe-shell/webpack.config.mjs';
import { readPackage, root } from '../portal/slices.mjs';
import { compile, descriptionOf, pack } from './package.mjs';

const kit = join(root, 'mfe-kit');
const folder = join(kit, 'dist/package');

/** The packages that the kit's build, its test kit and its command use; their versions are this repository's. */
const TOOLS = [
  '@module-federation/enhanced',
  '@pmmmwh/react-refresh-webpack-plugin',
  '@swc/core',
  '@tanstack/react-query',
  '@testing-library/dom',
  '@testing-library/jest-dom',
  '@testing-library/react',
  '@testing-library/user-event',
  '@types/node',
  '@types/react',
  '@types/react-dom',
  'css-loader',
  'jsdom',
  'mini-css-extract-plugin',
  'msw',
  'react',
  'react-dom',
  'react-refresh',
  'react-router',
  'semver',
  'swc-loader',
  'terser-webpack-plugin',
  'typescript',
  'vitest',
  'webpack',
  'webpack-dev-server',
];

// The gallery is built by itself.
for (const name of await readdir(join(kit, 'dist')).catch(() => []))
  if (name !== 'gallery') await rm(join(kit, 'dist', name), { recursive: true });
await mkdir(folder, { recursive: true });
await Promise.all([compileKit(), buildShell()]);
await Promise.all(['build', 'cli', 'template'].map(copyFolder));
await rename(join(folder, 'build/slice.tsconfig.json'), join(folder, 'tsconfig.json'));
await mkdir(join(folder, 'docs'));
await copyDocument(join(kit, 'README.md'), 'README.md');
await copyDocument(join(root, 'docs/slices.md'), 'docs/slices.md');
await copyFile(join(root, 'CHANGELOG.md'), join(folder, 'CHANGELOG.md'));
await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
await pack(folder, await description());

/** Compiles the kit, with its styles beside the modules. */
async function compileKit() {
  await compile(kit, folder);
  // The compiler keeps the path of this reference as it is in the sources, and this import, which tools can't resolve.
  await edit('index.d.ts', /path="[^"]*css\.d\.ts"/, 'path="./css.d.ts"');
  await edit('ui/ThemeProvider.d.ts', /^import '.*\.css';\n/m, '');
  const sources = await readdir(join(kit, 'src'), { recursive: true });
  for (const file of sources.filter((name) => /\.css$|(^|\/)css\.d\.ts$/.test(name))) {
    await mkdir(dirname(join(folder, 'dist', file)), { recursive: true });
    await copyFile(join(kit, 'src', file), join(folder, 'dist', file));
  }
}

/** Edits a declaration that the compiler wrote. */
async function edit(name, wrong, right) {
  const file = join(folder, 'dist', name);
  const text = await readFile(file, 'utf8');
  if (!wrong.test(text)) throw new Error(`${name} has no ${wrong}`);
  await writeFile(file, text.replace(wrong, right));
}

/** Copies a folder that slices use as it is. */
async function copyFolder(name) {
  await cp(join(kit, name), join(folder, name), {
    recursive: true,
    filter: (path) => !/\/(dist|node_modules)$|\.test\.mjs$/.test(path),
  });
}

/** Copies a page of the documentation; links to pages that the package does not have become their text. */
async function copyDocument(from, to) {
  const text = await readFile(from, 'utf8');
  const placed = text
    .replaceAll('(../docs/slices.md', '(docs/slices.md')
    .replaceAll('(../mfe-kit/README.md', '(../README.md')
    .replaceAll(/\[([^\]]+)\]\((?!https?:|docs\/slices\.md|\.\.\/README\.md)[^)]+\)/g, '$1');
  await writeFile(join(folder, to), placed);
}

/** The shell whose React can refresh screens, for `mfe-kit dev`. */
async function buildShell() {
  const config = shellConfig({}, { mode: 'development' });
  await build({ ...config, output: { ...config.output, path: join(folder, 'shell') }, devtool: false });
}

/** The package's own description, with everything that it needs. */
async function description() {
  const { dependencies, ...own } = await descriptionOf('mfe-kit');
  const { dependencies: toBuild, devDependencies } = await readPackage('.');
  const versions = { ...toBuild, ...devDependencies };
  const tools = Object.fromEntries(TOOLS.map((name) => [name, versions[name]]));
  const missing = TOOLS.filter((name) => !tools[name]);
  if (missing.length > 0) throw new Error(`The root has no version of ${missing.join(', ')}`);
  return {
    ...own,
    dependencies: Object.fromEntries(Object.entries({ ...dependencies, ...tools }).sort()),
  };
}
