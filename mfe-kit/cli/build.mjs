import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import webpack from 'webpack';
import { sliceBuild } from '../build/webpack.mjs';
import { Refusal } from './refusal.mjs';
import { readSlicePackage } from './slice-package.mjs';

/** Builds the slice into `dist/`. */
export async function run() {
  const { folder, name, version } = readSlicePackage();
  const config = await configOf(folder, 'production');
  const stats = await new Promise((resolve, reject) => {
    const compiler = webpack(config);
    compiler.run((error, result) => compiler.close(() => (error ? reject(error) : resolve(result))));
  });
  if (stats.hasErrors()) throw new Refusal(`${name} can't be built:\n${stats.toString('errors-only')}`);
  console.log(`${name} ${version} is built into dist/.`);
}

/** The slice's own webpack configuration, or the usual one. */
export async function configOf(folder, mode) {
  const own = join(folder, 'webpack.config.mjs');
  const make = existsSync(own) ? (await import(pathToFileURL(own).href)).default : sliceBuild(folder);
  return typeof make === 'function' ? make({}, { mode }) : make;
}
