import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './slices.mjs';

const require = createRequire(import.meta.url);

/** The shell's part of `slices.json`: its version, and what slices have to fit. */
export async function describeShell() {
  const page = await readFile(join(root, 'mfe-shell/dist/index.html'));
  const [shell, kit] = await Promise.all(['mfe-shell', 'mfe-kit'].map(readPackage));
  return {
    version: shell.version,
    kit: kit.version,
    build: createHash('sha256').update(page).digest('hex').slice(0, 12),
    libraries: librariesOf(kit),
  };
}

/** The libraries that the shell shares with slices, with the installed versions. */
export function librariesOf(kit) {
  const names = Object.keys(kit.peerDependencies);
  return Object.fromEntries(names.map((name) => [name, require(`${name}/package.json`).version]));
}

async function readPackage(name) {
  return JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8'));
}
