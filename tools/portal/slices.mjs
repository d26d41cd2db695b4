import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** The names of this repository's slices: every package `mfe-…` with a `src/slice.tsx`. */
export function sliceNames() {
  return readdirSync(root)
    .filter((name) => name.startsWith('mfe-') && existsSync(join(root, name, 'src/slice.tsx')))
    .sort();
}

/** The package.json of a folder of this repository. */
export async function readPackage(name) {
  return JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8'));
}
