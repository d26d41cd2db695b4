/**
 * Writes the shell's part of `slices.json`, for a web server that adds it to the provider's list:
 * `node mfe-kit/build/placed-shell.mjs <file>`.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const versionOf = async (name) =>
  JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8')).version;

const page = await readFile(join(root, 'mfe-shell/dist/index.html'));
const shell = {
  version: await versionOf('mfe-shell'),
  kit: await versionOf('mfe-kit'),
  build: createHash('sha256').update(page).digest('hex').slice(0, 12),
};
await writeFile(process.argv[2], `${JSON.stringify(shell)}\n`);
