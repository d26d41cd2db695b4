/**
 * A complete portal on this machine with one slice as you edit it: the provider serves the shell and the
 * built slices, and `mfe-kit dev` the slice, in a shell whose screens keep their state when you save.
 *
 *     node mfe-kit/build/dev.mjs loans     (`make dev SLICE=loans`)
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { devPort, root, sliceNames, sliceNameOf } from './slices.mjs';

const slice = sliceNameOf(process.argv[2] ?? '');
const names = sliceNames();
if (!names.includes(slice))
  refuse(`say which slice: make dev SLICE=NAME, where NAME is one of ${names.map(shortNameOf).join(', ')}.`);

const binary = process.env.MKOPO_BINARY ?? join(root, 'server/target/debug/mkopo');
if (!existsSync(binary)) refuse(`there is no server at ${binary}: 'make dev' builds it.`);

const port = process.env.PORT ?? '8080';
const slicePort = process.env.SLICE_PORT ?? String(devPort(slice));
for (const [setting, number] of [
  ['PORT', Number(port)],
  ['PORT', Number(port) + 1], // the console's
  ['SLICE_PORT', Number(slicePort)],
])
  if (!(await isFree(number))) refuse(`port ${number} is in use: choose another with ${setting}=.`);

// The same host name for both: the dev server serves its code to pages of its own site only.
const portal = `http://localhost:${port}`;
const running = new Set();
process.once('SIGINT', () => end(130));
process.once('SIGTERM', () => end(143));

start(binary, ['serve'], {
  env: {
    MKOPO_DEMO: 'true',
    MKOPO_SLICE_OVERRIDE: 'true',
    MKOPO_PORTAL_DIR: join(root, 'dist/portal'),
    MKOPO_LISTEN: `127.0.0.1:${port}`,
  },
});
await answers(`${portal}/readyz`);
const command = join(root, 'mfe-kit/cli/mfe-kit.mjs');
start(process.execPath, [command, 'dev', '--portal', portal, '--port', slicePort], {
  cwd: join(root, slice),
  env: {},
});

/** Starts a program; when one ends, so does everything. */
function start(command, args, { cwd = root, env }) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
  running.add(child);
  child.once('error', ({ message }) => {
    console.error(`mkopo: ${command} could not be started: ${message}.`);
    running.delete(child);
    end(1);
  });
  child.once('exit', (code) => {
    running.delete(child);
    end(code ?? 1);
  });
}

/** Stops what is running, and ends when it has. */
function end(code) {
  process.exitCode ??= code;
  for (const child of running) child.kill('SIGTERM');
  if (running.size === 0) process.exit();
}

async function answers(address) {
  for (;;) {
    const isReady = await fetch(address).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function isFree(number) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(number, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

function refuse(sentence) {
  console.error(`mkopo: ${sentence}`);
  process.exit(1);
}

function shortNameOf(name) {
  return name.slice('mfe-'.length);
}
