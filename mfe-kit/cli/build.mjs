import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from '../build/base.mjs';
import { MANIFEST } from '../build/manifest.mjs';
import { sliceBuild } from '../build/webpack.mjs';
import { Refusal } from './refusal.mjs';
import { readJson, readSlicePackage } from './slice-package.mjs';

/** Builds the slice into `dist/`. */
export async function run() {
  const { folder, name, version } = readSlicePackage();
  const config = await configOf(folder, 'production');
  await build(config).catch(({ message }) => {
    throw new Refusal(`${name} can't be built:\n${message}`);
  });
  console.log(`${name} ${version} is built into dist/.`);
}

/** The slice's own webpack configuration, or the usual one. */
export async function configOf(folder, mode) {
  const own = join(folder, 'webpack.config.mjs');
  const make = existsSync(own) ? (await import(pathToFileURL(own).href)).default : sliceBuild(folder);
  return typeof make === 'function' ? make({}, { mode }) : make;
}

/** The manifest of the build in `dist/`; `undefined` if there is none. */
export function builtManifest({ folder }) {
  const file = join(folder, 'dist', MANIFEST);
  return existsSync(file) ? readJson(file) : undefined;
}

/** Returns whether `dist/` is taken as it is: in CI (`CI=true`), if it has a build of this version. */
export function isBuilt(slicePackage) {
  if (process.env.CI !== 'true') return false;
  return builtManifest(slicePackage)?.metaData?.buildInfo?.buildVersion === slicePackage.version;
}
