#!/usr/bin/env node
/** The command of a slice's repository. */
import { Refusal } from './refusal.mjs';

const COMMANDS = {
  new: ['NAME [--portal URL]', 'make a slice in this folder'],
  dev: ['[--portal URL] [--port 3000]', 'run the portal on this machine with this slice as you edit it'],
  check: ['[--against URL]', 'say whether the build of this slice will load in a portal'],
  build: ['', 'build this slice into dist/'],
  publish: [
    '[--portal URL] [--token TOKEN] [--hold] [--force] [--insecure]',
    'publish the build of this slice',
  ],
  deploy: ['[--insecure]', 'publish dist/ and stay, as the program of a container'],
};

const INSECURE =
  '--insecure (or MKOPO_INSECURE=true) sends the deploy token to an address without TLS that is not on this machine.';

// As in `engines` of package.json, which a slice's container does not have.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`mfe-kit: this is Node.js ${process.versions.node}, and 20.19 or later is needed.`);
  process.exit(1);
}

const [command, ...args] = process.argv.slice(2);
if (!Object.hasOwn(COMMANDS, command ?? '')) {
  const list = Object.entries(COMMANDS).map(
    ([name, [options, what]]) => `  ${`mfe-kit ${name} ${options}`.trimEnd()}\n      ${what}`,
  );
  console.error(['Commands:', ...list, '', INSECURE].join('\n'));
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
