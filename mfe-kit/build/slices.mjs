import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** The slices of this repository: every package `mfe-…` that has a `src/slice.tsx`, by name. */
export function sliceNames() {
  return readdirSync(root)
    .filter((name) => name.startsWith('mfe-') && existsSync(join(root, name, 'src/slice.tsx')))
    .sort();
}

/** The port that a package's dev server listens on; the provider answers on 8080. */
export function devPort(name) {
  return 3001 + sliceNames().indexOf(name);
}
