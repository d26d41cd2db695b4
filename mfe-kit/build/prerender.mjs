/**
 * A slice's public screens as HTML, so that a visitor sees and uses the form before the scripts are there:
 *
 * 1. **The slice's build** (this file) draws each public screen of `slice.screens` with react-dom/server, in a
 *    worker: the slice's own components, those of the kit with the class names that the shell's style sheet has,
 *    in English, for both themes and with and without the parts of a demo. What only the portal knows is a
 *    placeholder such as `{brand}`. The HTML, and the screen's own styles, are `prerendered` in the manifest.
 * 2. **The page** (the script in `mfe-shell/src/index.html`) reads the manifest of the live build anyway, checked
 *    against its integrity. It shows the HTML as `#prerendered` while `#root`, where React draws, is hidden. It
 *    does not for a signed-in user, who is redirected; in another language; while builds are overridden; or if
 *    the HTML was made for another version of the kit. Clicks are kept for later. If the scripts
 *    fail, it removes the HTML again.
 * 3. **The shell** (`mfe-shell/src/take-over.ts`), as soon as React has drawn a page, gives its fields what was
 *    typed, the focus and the selection, shows it instead of the HTML, and repeats the clicks.
 *
 * A public screen without parameters in its path needs nothing for this, but its first drawing must not need a
 * browser. Where it does, the build warns, and the screen appears when React draws it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import webpack from 'webpack';

const { version: KIT } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'));
const SCREENS = join(import.meta.dirname, 'prerender-screens.mjs');

/** The configuration of the build that the worker runs, from that of the slice without its plugins. */
export function screensBuild({ context, output, cache, ...config }) {
  return {
    ...config,
    context,
    target: 'node20',
    entry: SCREENS,
    devtool: false,
    output: {
      path: join(context, 'node_modules/.cache/prerender'),
      filename: 'screens.cjs',
      uniqueName: output.uniqueName,
    },
    resolve: {
      ...config.resolve,
      alias: { ...config.resolve.alias, 'slice-to-prerender$': join(context, 'src/slice.tsx') },
    },
    optimization: { minimize: false, splitChunks: false },
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
    cache: { ...cache, name: 'prerender' },
  };
}

/** `prerendered` of the manifest of a build that brings public screens. */
export async function prerendered(compilation, { screens }, build) {
  const paths = screens
    .filter((screen) => screen.public && !screen.path.includes(':'))
    .map(({ path }) => path);
  if (paths.length === 0) return {};
  const drawn = await drawnIn(build, paths);
  const warn = (path, reason) =>
    compilation.warnings.push(new webpack.WebpackError(`The screen '${path}' has no HTML: ${reason}`));
  const ready = {};
  for (const path of paths) {
    const styles = stylesOf(compilation, path);
    const { html, error } = drawn[path];
    if (error) warn(path, error);
    else if (styles === undefined) warn(path, `no chunk is named '${chunkOf(path)}', after its path.`);
    else ready[path] = { styles, html };
  }
  return { prerendered: { kit: KIT, screens: ready } };
}

/** The HTML of each path by theme and kind of deployment, or the error why there is none. */
async function drawnIn(build, paths) {
  const stats = await new Promise((resolve, reject) => {
    const compiler = webpack(build);
    compiler.run((error, result) => compiler.close(() => (error ? reject(error) : resolve(result))));
  });
  if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
  const worker = new Worker(join(build.output.path, build.output.filename), { workerData: paths });
  try {
    return await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  } finally {
    await worker.terminate();
  }
}

/** The style sheets of a screen's chunk, as one text. */
function stylesOf(compilation, path) {
  const files = compilation.namedChunkGroups.get(chunkOf(path))?.getFiles();
  return files
    ?.filter((file) => file.endsWith('.css'))
    .map((file) => compilation.assets[file].source().toString())
    .join('')
    .replaceAll(/\/\*[^]*?\*\//g, '');
}

const chunkOf = (path) => path.split('/')[1];
