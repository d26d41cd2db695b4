/**
 * A complete portal on this machine with one slice as you edit it: the provider serves the shell and the
 * built slices, and the slice comes from its own dev server, which reloads the page on every change.
 *
 *     node mfe-kit/build/dev.mjs loans     (`make dev SLICE=loans`)
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { devPort, root, sliceNames } from './slices.mjs';

const asked = process.argv[2] ?? '';
const slice = asked.startsWith('mfe-') ? asked : `mfe-${asked}`;
if (!sliceNames().includes(slice)) {
  console.error(
    `mkopo: say which slice: ${sliceNames()
      .map((name) => name.slice(4))
      .join(', ')}.`,
  );
  process.exit(1);
}
const port = process.env.PORT ?? '8080';
const slicePort = process.env.SLICE_PORT ?? String(devPort(slice));
// The same host name for both: the dev server serves its code to pages of its own site only.
const portal = `http://localhost:${port}`;

const running = [
  run(process.env.MKOPO_BINARY ?? join(root, 'server/target/debug/mkopo'), ['serve'], {
    env: {
      MKOPO_DEMO: 'true',
      MKOPO_SLICE_OVERRIDE: 'true',
      MKOPO_PORTAL_DIR: join(root, 'dist/portal'),
      MKOPO_LISTEN: `127.0.0.1:${port}`,
    },
  }),
  run(
    process.execPath,
    [join(root, 'node_modules/webpack-cli/bin/cli.js'), 'serve', '--mode', 'development'],
    {
      cwd: join(root, slice),
      env: { PORT: slicePort, MKOPO_URL: portal },
    },
  ),
];

function run(command, args, { cwd = root, env }) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
  child.once('exit', () => stop());
  return child;
}

function stop() {
  for (const child of running) child.kill('SIGTERM');
}
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

for (const address of [`${portal}/readyz`, `http://localhost:${slicePort}/mf-manifest.json`])
  while (!(await isThere(address))) await new Promise((resolve) => setTimeout(resolve, 250));
console.log(`\n  ${slice} as you edit it: ${portal}/?slice=${slice}@http://localhost:${slicePort}\n`);

async function isThere(address) {
  if (running.some(({ exitCode }) => exitCode !== null)) process.exit(1);
  return fetch(address).then(
    ({ ok }) => ok,
    () => false,
  );
}
