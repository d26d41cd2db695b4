/**
 * Writes the shell's part of `slices.json`, for a web server that adds it to the provider's list:
 * `node mfe-kit/build/placed-shell.mjs <file>`.
 */
import { writeFile } from 'node:fs/promises';
import { describeShell } from './shell.mjs';

await writeFile(process.argv[2], `${JSON.stringify(await describeShell())}\n`);
