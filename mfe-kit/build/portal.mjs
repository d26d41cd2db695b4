/**
 * Assembles `dist/portal` from the four builds: the shell's files at its root, each slice under
 * `slices/<name>/<version>/`, and `slices.json`, which says which build is live.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compressFile } from './compress.mjs';

const root = join(import.meta.dirname, '../..');
const portal = join(root, 'dist/portal');
const SLICES = ['mfe-auth', 'mfe-loans', 'mfe-transactions'];

await rm(portal, { recursive: true, force: true });
await mkdir(portal, { recursive: true });
await cp(join(root, 'mfe-shell/dist'), portal, { recursive: true });

const slices = {};
for (const name of SLICES) {
  const { version, peerDependencies } = JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8'));
  const address = `slices/${name}/${version}`;
  await cp(join(root, name, 'dist'), join(portal, address), { recursive: true });
  const manifest = await readFile(join(portal, address, 'mf-manifest.json'));
  slices[name] = {
    version,
    entry: `/${address}/mf-manifest.json`,
    integrity: `sha384-${createHash('sha384').update(manifest).digest('base64')}`,
    shell: peerDependencies['mfe-kit'],
    previous: null,
  };
}

const list = {
  portal: { brand: 'Mkopo', product: 'the product', demo: false, allow_override: false },
  slices,
};
await writeFile(join(portal, 'slices.json'), `${JSON.stringify(list, null, 2)}\n`);
await compressFile(join(portal, 'slices.json'));
