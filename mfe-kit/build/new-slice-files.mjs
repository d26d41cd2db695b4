import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The names of a new slice, from what was typed; `null` if that is no name. */
export function wordsOf(given) {
  const name = given.replace(/^mfe-/, '');
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 60) return null;
  if (name === 'shell' || name === 'kit') return null;
  const words = name.split('-').map((word) => word[0].toUpperCase() + word.slice(1));
  return {
    package: `mfe-${name}`,
    sample: name,
    SamplePage: `${words.join('')}Page`,
    Sample: words.join(' '),
  };
}

/** Copies the template into a folder, with the names of the new slice. */
export async function copyTemplate(folder, names) {
  const renamed = (text) => text.replaceAll(/SamplePage|Sample|sample/g, (word) => names[word]);
  const template = join(import.meta.dirname, '../template');
  await cp(template, folder, {
    recursive: true,
    filter: (path) => !['dist', 'node_modules'].includes(basename(path)),
  });
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await writeFile(path, renamed(await readFile(path, 'utf8')));
    if (entry.name.includes('Sample')) await rename(path, join(entry.parentPath, renamed(entry.name)));
  }
}
