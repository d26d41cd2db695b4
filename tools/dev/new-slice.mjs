/**
 * Makes a new slice of this repository from the template.
 *
 *     node tools/dev/new-slice.mjs repayments [FOLDER]     (`make slice NAME=repayments`)
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyTemplate, wordsOf } from '../../mfe-kit/build/new-slice-files.mjs';
import { root } from '../portal/slices.mjs';

const [given = '', into] = process.argv.slice(2);
const names = wordsOf(given);
if (!names) {
  console.error(
    `mkopo: '${given}' is not a slice's name: give one such as repayments, of lower-case letters, digits and dashes.`,
  );
  process.exit(1);
}
const folder = into ? resolve(into) : join(root, names.package);
if (existsSync(folder)) {
  console.error(`mkopo: ${folder} already exists.`);
  process.exit(1);
}
await copyTemplate(folder, names);
console.log(`${folder} is there. Next: npm install, then make dev SLICE=${names.sample}`);
