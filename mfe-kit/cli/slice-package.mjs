import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal.mjs';

/** The package of the slice in a folder. */
export function readSlicePackage(folder = process.cwd()) {
  const file = join(folder, 'package.json');
  const content = existsSync(file) ? readJson(file) : {};
  if (!content.slice)
    throw new Refusal(`${folder} is not the folder of a slice: run this where its package.json is.`);
  return { folder, ...content };
}

export function readJson(file) {
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
