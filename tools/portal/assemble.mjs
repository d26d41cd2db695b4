/**
 * Assembles `dist/portal` from the builds: the shell's files at its root, each slice under
 * `slices/<name>/<version>/`, `slices.json`, which says which build is live, and `csp.txt`, the
 * policy that the page is served with. `tools/kits/kit-folder.mjs` adds the kits.
 *
 *     --out FOLDER            another folder than dist/portal
 *     --at NAME=ADDRESS       a slice that is served elsewhere: the address of its mf-manifest.json,
 *                             which is read during the build; can be repeated
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compressFile } from '../../mfe-kit/build/compress.mjs';
import { listedBuild, MANIFEST } from '../../mfe-kit/build/manifest.mjs';
import { describeShell } from './shell.mjs';
import { readPackage, root, sliceNames } from './slices.mjs';

const { values: asked } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist/portal') },
    at: { type: 'string', multiple: true, default: [] },
  },
});
const portal = resolve(asked.out);
const elsewhere = Object.fromEntries(asked.at.map((text) => text.split(/=(.*)/s).slice(0, 2)));

await rm(portal, { recursive: true, force: true });
await mkdir(portal, { recursive: true });
await cp(join(root, 'mfe-shell/dist'), portal, { recursive: true });

const shell = await describeShell();

const slices = {};
for (const name of new Set([...sliceNames(), ...Object.keys(elsewhere)]))
  slices[name] = elsewhere[name] ? await servedAt(elsewhere[name]) : await bundled(name);

const origins = [...new Set(Object.values(elsewhere).map((address) => new URL(address).origin))];
const list = {
  portal: {
    brand: 'Mkopo',
    product: 'Mkopo',
    time_zone: 'Africa/Nairobi',
    demo: false,
    allow_override: false,
    slice_origins: origins,
  },
  shell,
  slices,
};
await writeFile(join(portal, 'slices.json'), `${JSON.stringify(list, null, 2)}\n`);
await widenPolicy(origins);
await Promise.all(['slices.json', 'csp.txt'].map((file) => compressFile(join(portal, file))));

/** A build of this repository, copied into the portal. */
async function bundled(name) {
  const { version } = await readPackage(name);
  const address = `slices/${name}/${version}`;
  await cp(join(root, name, 'dist'), join(portal, address), { recursive: true });
  return listedBuild(`/${address}/${MANIFEST}`, await readFile(join(portal, address, MANIFEST)));
}

async function servedAt(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  return listedBuild(address, Buffer.from(await answer.arrayBuffer()));
}

/** Allows the page to load slices of other origins. */
async function widenPolicy(origins) {
  if (origins.length === 0) return;
  const file = join(portal, 'csp.txt');
  const policy = (await readFile(file, 'utf8')).trim().split('; ');
  const wider = policy.map((directive) =>
    /^(script|style|connect|img|font)-src /.test(directive) ? [directive, ...origins].join(' ') : directive,
  );
  await writeFile(file, wider.join('; '));
}
