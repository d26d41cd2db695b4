/**
 * Makes a new slice from the template.
 *
 *     node mfe-kit/build/new-slice.mjs repayments [FOLDER]     (`make slice NAME=repayments`)
 */
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { root, sliceNameOf } from './slices.mjs';

const [given = '', into] = process.argv.slice(2);
const name = given.replace(/^mfe-/, '');
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 60) {
  console.error(
    `mkopo: '${given}' is not a slice's name: give one such as repayments, of lower-case letters, digits and dashes.`,
  );
  process.exit(1);
}
const folder = into ? resolve(into) : join(root, sliceNameOf(name));
if (existsSync(folder)) {
  console.error(`mkopo: ${folder} already exists.`);
  process.exit(1);
}

const words = name.split('-').map((word) => word[0].toUpperCase() + word.slice(1));
const inPlaceOf = { sample: name, SamplePage: `${words.join('')}Page`, Sample: words.join(' ') };

await cp(join(import.meta.dirname, '../template'), folder, {
  recursive: true,
  filter: (path) => !['dist', 'node_modules'].includes(basename(path)),
});
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  await writeFile(path, renamed(await readFile(path, 'utf8')));
  if (entry.name.includes('Sample')) await rename(path, join(entry.parentPath, renamed(entry.name)));
}
console.log(`${folder} is there. Next: npm install, then make dev SLICE=${name}`);

function renamed(text) {
  return text.replaceAll(/SamplePage|Sample|sample/g, (word) => inPlaceOf[word]);
}
