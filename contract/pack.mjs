import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import './generate.mjs';

/** Puts the contract's types into a folder of compiled modules, whose declarations then import that file. */
export async function packTypes(folder) {
  const files = await readdir(folder, { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.d.ts'))) {
    const path = join(folder, file);
    const text = await readFile(path, 'utf8');
    const types = `${relative(dirname(path), folder) || '.'}/contract.js`;
    const placed = text.replaceAll(/(['"])mkopo-contract\1/g, `$1${types}$1`);
    if (placed !== text) await writeFile(path, placed);
  }
  await copyFile(join(import.meta.dirname, 'types.d.ts'), join(folder, 'contract.d.ts'));
}
