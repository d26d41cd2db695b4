/**
 * Generates `types.d.ts`, which both kits import as `mkopo-contract`, and checks the contract; nothing to do if it is
 * newer than all that it is made from.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = import.meta.dirname;
const timeOf = (file) => statSync(join(folder, file)).mtimeMs;
const sources = ['openapi.yaml', 'redocly.yaml', 'package.json', 'generate.mjs'];

if (!existsSync(join(folder, 'types.d.ts')) || Math.max(...sources.map(timeOf)) > timeOf('types.d.ts')) {
  const generator = fileURLToPath(new URL('../bin/cli.js', import.meta.resolve('openapi-typescript')));
  const options = ['--redocly', 'redocly.yaml', '--output', 'types.d.ts'];
  const style = ['--alphabetize', '--default-non-nullable=false'];
  const command = [generator, 'openapi.yaml', ...options, ...style];
  const { status } = spawnSync(process.execPath, command, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) {
    console.error('mkopo: the contract has an error, see above.');
    process.exit(1);
  }
}
