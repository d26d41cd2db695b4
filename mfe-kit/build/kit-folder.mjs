/**
 * Fills `kit/` of a built portal: the gallery and the packages that this repository has built, and a plain list of them, from
 * which `pip install --find-links` and people choose.
 *
 *     node mfe-kit/build/kit-folder.mjs dist/portal
 */
import { copyFile, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './slices.mjs';

/** Where packages are built. */
const BUILT = ['mfe-kit/dist', 'testkit/typescript/dist', 'testkit/python/dist'];

/** Copies the gallery and the packages, and `mkopo-test.tgz` as the newest of its kind; lists them. */
export async function fillKitFolder(portal) {
  const folder = join(portal, 'kit');
  await mkdir(folder, { recursive: true });
  for (const built of BUILT)
    for (const name of await packages(join(root, built)))
      await copyFile(join(root, built, name), join(folder, name));
  await cp(join(root, 'mfe-kit/dist/gallery'), join(folder, 'gallery'), { recursive: true });
  const names = await packages(folder);
  const newest = names.filter((name) => /^mkopo-test-.*\.tgz$/.test(name)).at(-1);
  if (newest) await copyFile(join(folder, newest), join(folder, 'mkopo-test.tgz'));
  const links = names.map((name) => `<li><a href="${name}">${name}</a></li>`);
  links.push('<li><a href="gallery/">The parts of mfe-kit</a></li>');
  const page = ['<!doctype html>', '<html lang="en">', '<meta charset="utf-8">', '<title>Kits</title>'];
  await writeFile(join(folder, 'index.html'), `${[...page, '<ul>', ...links, '</ul>'].join('\n')}\n`);
}

/** The packages in a folder whose names have a version, oldest version first. */
async function packages(folder) {
  const names = await readdir(folder).catch(() => []);
  const byVersion = new Intl.Collator('en', { numeric: true });
  return names.filter((name) => /-\d.*\.(tgz|whl)$/.test(name)).sort(byVersion.compare);
}

if (process.argv[1] && basename(fileURLToPath(import.meta.url)) === basename(process.argv[1]))
  await fillKitFolder(process.argv[2] ?? join(root, 'dist/portal'));
