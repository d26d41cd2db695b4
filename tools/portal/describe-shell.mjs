/**
 * Describes the shell's build in `mfe-shell/dist/shell.json`, so that it can be published. With `--kit`, it names the
 * packed kit, which `tools/kits/kit-folder.mjs` adds to the build.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeShell, packedKit } from './shell.mjs';
import { root } from './slices.mjs';

const shell = await describeShell();
if (process.argv.includes('--kit')) shell.kit_package = await packedKit();
await writeFile(join(root, 'mfe-shell/dist/shell.json'), `${JSON.stringify(shell, null, 2)}\n`);
