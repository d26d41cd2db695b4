import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { create } from 'tar';
import { MANIFEST } from '../build/manifest.mjs';
import { run as build } from './build.mjs';
import { ask, portalAt } from './portal.mjs';
import { Refusal } from './refusal.mjs';
import { portalOf, readSlicePackage } from './slice-package.mjs';

/** Builds the slice, and publishes the build with the slice's deploy token. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      portal: { type: 'string' },
      token: { type: 'string' },
      hold: { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
    },
  });
  const slicePackage = readSlicePackage();
  const portal = portalAt(portalOf(slicePackage, values.portal));
  const token = values.token ?? process.env.MKOPO_DEPLOY_TOKEN;
  if (!token)
    throw new Refusal(
      `publishing needs the deploy token of ${slicePackage.name} in MKOPO_DEPLOY_TOKEN: 'mkopo slice token add ${slicePackage.name}' makes one.`,
    );
  if (!isBuilt(slicePackage)) await build();
  const query = new URLSearchParams(
    ['hold', 'force'].filter((name) => values[name]).map((name) => [name, 'true']),
  );
  const answer = await ask(portal, `/deploy/slices?${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/octet-stream' },
    body: await archiveOf(join(slicePackage.folder, 'dist')),
    signal: AbortSignal.timeout(120_000),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new Refusal(told.error ?? `${portal} answered ${answer.status} and is not a Mkopo portal.`);
  const outcome = answer.status === 201 ? 'is published' : 'was already published';
  const live = told.live === slicePackage.version ? 'it is live' : `${told.live ?? 'no build'} is live`;
  console.log(`${slicePackage.name} ${slicePackage.version} ${outcome}; ${live}.`);
}

/** Whether `dist/` has a build of this version, newer than its sources as far as `npm run build` can tell. */
function isBuilt({ folder, version }) {
  const file = join(folder, 'dist', MANIFEST);
  if (process.env.CI !== 'true' || !existsSync(file)) return false;
  return JSON.parse(readFileSync(file, 'utf8')).metaData.buildInfo.buildVersion === version;
}

/** The build as one archive, always the same for the same files. The server compresses files itself. */
async function archiveOf(folder) {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const parts = [];
  for await (const part of create({ cwd: folder, portable: true, noMtime: true }, files)) parts.push(part);
  return Buffer.concat(parts);
}
