import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST } from '../build/manifest.mjs';
import { Refusal } from './refusal.mjs';

/** The package of the slice in a folder. */
export function readSlicePackage(folder = process.cwd()) {
  const file = join(folder, 'package.json');
  const content = existsSync(file) ? readJson(file) : {};
  if (!content.slice)
    throw new Refusal(`${folder} is not the folder of a slice: run this where its package.json is.`);
  return { folder, ...content };
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

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch ({ message }) {
    throw new Refusal(`${file} can't be read: ${message}`);
  }
}

/** Where a slice goes: an option, the environment, or its package. */
export function portalOf({ slice }, given) {
  return given ?? process.env.MKOPO_PORTAL ?? slice.portal;
}
