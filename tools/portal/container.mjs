/**
 * Writes what the web servers of containers serve besides plain files.
 *
 *     node tools/portal/container.mjs slice NAME FOLDER     the slice's build, and `build.json`, which describes it
 *     node tools/portal/container.mjs shell FILE            the shell's part of `slices.json`, with the packed kit
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listedBuild, MANIFEST } from '../../mfe-kit/build/manifest.mjs';
import { describeShell, packedKit } from './shell.mjs';
import { readPackage, root } from './slices.mjs';

const [what, ...given] = process.argv.slice(2);
await { slice: placeSlice, shell: placeShell }[what](...given);

async function placeShell(file) {
  const shell = { ...(await describeShell()), kit_package: await packedKit() };
  await writeFile(file, `${JSON.stringify(shell)}\n`);
}

async function placeSlice(name, folder) {
  const dist = join(root, name, 'dist');
  const version = await exactVersion(name, dist);
  const address = `slices/${name}/${version}`;
  await mkdir(join(folder, 'slices', name), { recursive: true });
  await cp(dist, join(folder, address), { recursive: true });
  const build = { ...listedBuild(`/${address}/${MANIFEST}`, await readFile(join(dist, MANIFEST))), version };
  await writeFile(join(folder, 'slices', name, 'build.json'), `${JSON.stringify(build, null, 2)}\n`);
}

/**
 * The slice's version, with a digest of the build as semver build metadata. Browsers cache a build for a
 * year by its address, so two builds of one version need different addresses.
 */
async function exactVersion(name, dist) {
  const { version } = await readPackage(name);
  const digest = createHash('sha256');
  for (const file of (await readdir(dist)).sort()) {
    digest.update(`${file}\n`).update(await readFile(join(dist, file)));
  }
  return `${version}+${digest.digest('hex').slice(0, 10)}`;
}
