/**
 * Writes the content of a slice's own web server: its build, and `build.json` with its version.
 * `node mfe-kit/build/placed-slice.mjs <name> <folder>`.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listedBuild, MANIFEST } from './manifest.mjs';

const root = join(import.meta.dirname, '../..');

/** Copies a slice's build into `folder` under `version`; returns its entry for `slices.json`. */
async function placeSlice(name, folder, version) {
  const address = `slices/${name}/${version}`;
  await mkdir(join(folder, 'slices', name), { recursive: true });
  await cp(join(root, name, 'dist'), join(folder, address), { recursive: true });
  const manifest = await readFile(join(folder, address, MANIFEST));
  return { ...listedBuild(`/${address}/${MANIFEST}`, manifest), version };
}

async function packageOf(name) {
  return JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8'));
}

/**
 * The slice's version, with a digest of the build as semver build metadata. Browsers cache a build for a
 * year by its address, so two builds of one version need different addresses.
 */
async function exactVersion(name) {
  const { version } = await packageOf(name);
  const dist = join(root, name, 'dist');
  const digest = createHash('sha256');
  for (const file of (await readdir(dist)).sort()) {
    digest.update(`${file}\n`).update(await readFile(join(dist, file)));
  }
  return `${version}+${digest.digest('hex').slice(0, 10)}`;
}

const [name, folder] = process.argv.slice(2);
const build = await placeSlice(name, folder, await exactVersion(name));
await writeFile(join(folder, 'slices', name, 'build.json'), `${JSON.stringify(build, null, 2)}\n`);
