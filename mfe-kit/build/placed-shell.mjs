/**
 * Writes the shell's part of `slices.json` with the packed kit, for a web server that adds it to the provider's list:
 * `node mfe-kit/build/placed-shell.mjs <file>`.
 */
import { writeFile } from 'node:fs/promises';
import { describeShell, packedKit } from './shell.mjs';

const shell = { ...(await describeShell()), kit_package: await packedKit() };
await writeFile(process.argv[2], `${JSON.stringify(shell)}\n`);
