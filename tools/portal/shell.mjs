import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { transformFile } from '@swc/core';
import { bringsOf, integrityOf } from '../../mfe-kit/build/manifest.mjs';
import { readPackage, root } from './slices.mjs';

const require = createRequire(import.meta.url);

/** The shell's part of `slices.json`: its version, its own screens, and what slices have to fit. */
export async function describeShell() {
  const page = await readFile(join(root, 'mfe-shell/dist/index.html'));
  const [shell, kit] = await Promise.all(['mfe-shell', 'mfe-kit'].map(readPackage));
  const { screens, menu } = bringsOf(shell);
  return {
    version: shell.version,
    kit: kit.version,
    build: createHash('sha256').update(page).digest('hex').slice(0, 12),
    libraries: Object.fromEntries(
      Object.keys(kit.peerDependencies).map((name) => [name, require(`${name}/package.json`).version]),
    ),
    screens,
    menu,
    icons: await iconNames(),
  };
}

/** The packed kit, as the portal serves it: `kit_package` in the shell's part of `slices.json`. */
export async function packedKit() {
  const { version } = await readPackage('mfe-kit');
  const file = `mfe-kit-${version}.tgz`;
  const content = await readFile(join(root, 'mfe-kit/dist', file));
  return { address: `/kit/${file}`, integrity: integrityOf(content, 'sha512') };
}

/** The names of the kit's icons. */
async function iconNames() {
  const { code } = await transformFile(join(root, 'mfe-kit/src/ui/icon-paths.ts'));
  const { ICON_PATHS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return Object.keys(ICON_PATHS);
}
