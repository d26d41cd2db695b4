/**
 * Builds the gallery of the kit's parts from the packed kit: static files for `/kit/gallery/` of the portal.
 *
 *     npm run gallery --workspace mfe-kit          after packing
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { base, basePlugins, build } from '../../mfe-kit/build/base.mjs';
import { compressFile } from '../../mfe-kit/build/compress.mjs';
import { root } from '../portal/slices.mjs';

const kit = join(root, 'mfe-kit');
const packed = join(kit, 'dist/package');
const sources = join(kit, 'gallery');
const folder = join(kit, 'dist/gallery');

const config = base(sources, { name: 'mfe-kit-gallery' }, 'production', { config: import.meta.filename });
config.devtool = false;
config.entry = { gallery: './main.tsx' };
config.output = { ...config.output, path: folder };
config.resolve = { ...config.resolve, alias: await entries() };
config.plugins = basePlugins('production');
// The kit imports antd's modules without extensions: a slice has them from the shell.
config.module.rules.push({ test: /\.js$/, resolve: { fullySpecified: false } });
config.module.rules.push({ test: /\/gallery\/parts\/.*\.tsx$/, loader: join(sources, 'with-code.mjs') });
const stats = await build(config);

const files = stats.compilation.entrypoints.get('gallery').getFiles();
const tags = files.map((file) =>
  file.endsWith('.css')
    ? `<link rel="stylesheet" href="${file}" />`
    : `<script defer src="${file}"></script>`,
);
const page = (await readFile(join(sources, 'index.html'), 'utf8')).replace('<!-- files -->', tags.join(''));
await writeFile(join(folder, 'index.html'), page);
await compressFile(join(folder, 'index.html'));

/** The files of the packed kit, by their entry. */
async function entries() {
  const { name, exports } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'));
  const files = Object.entries(exports).map(([entry, file]) => [
    `${entry.replace(/^\./, name)}$`,
    join(packed, file.default ?? file),
  ]);
  return Object.fromEntries(files);
}
