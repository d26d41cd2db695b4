#!/usr/bin/env node
/** The command of a slice's repository. */
import { Refusal } from './refusal.mjs';

const COMMANDS = {
  new: 'make a slice in this folder',
  dev: 'run the portal on this machine with this slice as you edit it',
  check: 'say whether the build of this slice will load in a portal',
  build: 'build this slice into dist/',
  publish: 'publish the build of this slice',
  deploy: 'publish dist/ and stay, as the program of a container',
};

const [command, ...args] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, command ?? '')) {
  const list = Object.entries(COMMANDS).map(([name, what]) => `  mfe-kit ${name.padEnd(8)} ${what}`);
  console.error(['Commands:', ...list].join('\n'));
  process.exit(1);
}
try {
  const { run } = await import(`./${command}.mjs`);
  await run(args);
} catch (error) {
  if (!(error instanceof Refusal) && !error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(`mfe-kit: ${error.message}`);
  process.exit(1);
}
