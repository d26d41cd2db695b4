/**
 * Adds the kits to a built portal: fills `kit/` with the gallery, the packages that this repository has built, and a
 * page about them, from which `pip install --find-links` and people choose; and names the package of mfe-kit in
 * `slices.json`, if the folder has one. The portal may be served meanwhile.
 *
 *     node tools/kits/kit-folder.mjs dist/portal
 */
import { copyFile, cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compressFile } from '../../mfe-kit/build/compress.mjs';
import { packedKit } from '../portal/shell.mjs';
import { root } from '../portal/slices.mjs';
import { sections } from './kit-page/sections.mjs';

/** Where packages are built. */
const BUILT = ['mfe-kit/dist', 'testkit/typescript/dist', 'testkit/python/dist'];

/** The package for Playwright. */
const TEST_KIT = /^mkopo-test-.*\.tgz$/;

const portal = process.argv[2] ?? join(root, 'dist/portal');
const folder = join(portal, 'kit');
const names = await copyKits();
await nameKit(join(portal, 'slices.json'));
// Last: for `make`, the kits are complete then.
await listKits();

/** Copies the gallery and the packages, and `mkopo-test.tgz` as the newest of its kind; returns the packages' names. */
async function copyKits() {
  await mkdir(folder, { recursive: true });
  for (const built of BUILT)
    for (const name of await packages(join(root, built)))
      await copyFile(join(root, built, name), join(folder, name));
  await cp(join(root, 'mfe-kit/dist/gallery'), join(folder, 'gallery'), { recursive: true });
  const copied = await packages(folder);
  const newest = copied.findLast((name) => TEST_KIT.test(name));
  if (newest) await copyFile(join(folder, newest), join(folder, 'mkopo-test.tgz'));
  return copied;
}

async function listKits() {
  const page = join(root, 'tools/kits/kit-page');
  await copyFile(join(root, 'mfe-kit/src/theme/styles.css'), join(folder, 'styles.css'));
  for (const name of ['page.css', 'page.js']) await copyFile(join(page, name), join(folder, name));
  // With a version in its name, pip would take the package for Playwright for a source of the one for pytest.
  const linked = names.map((name) => (TEST_KIT.test(name) ? 'mkopo-test.tgz' : name));
  const links = [...new Set(linked)].map((name) => `<li><a href="${name}">${name}</a></li>`);
  const text = (await readFile(join(page, 'index.html'), 'utf8'))
    .replace('<!-- kits -->', sections(names).join('\n'))
    .replace('<!-- packages -->', links.join('\n'));
  await writeFile(join(folder, 'index.html'), text);
}

/** The packages in a folder whose names have a version, oldest version first. */
async function packages(folder) {
  const names = await readdir(folder).catch(() => []);
  const byVersion = new Intl.Collator('en', { numeric: true });
  return names.filter((name) => /-\d.*\.(tgz|whl)$/.test(name)).sort(byVersion.compare);
}

/** Replaces the list at once, as a server may read it at any time. */
async function nameKit(file) {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!text) return;
  const list = JSON.parse(text);
  list.shell.kit_package = await packedKit();
  await writeFile(`${file}.new`, `${JSON.stringify(list, null, 2)}\n`);
  await rename(`${file}.new`, file);
  await compressFile(file);
}
