/**
 * The portal as you edit it: the server, the shell and the slices, or of these one and the others as they are
 * built.
 *
 *     node tools/dev/dev.mjs           (`make dev`)
 *     node tools/dev/dev.mjs loans     (`make dev SLICE=loans`)
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isFree } from '../machine/ports.mjs';
import { root, sliceNames } from '../portal/slices.mjs';
import { servePortal } from './watched-portal.mjs';
import { WatchedServer } from './watched-server.mjs';

const started = Date.now();
const names = sliceNames();
const given = process.argv[2];
// With or without `mfe-`.
const only = given ? `mfe-${given.replace(/^mfe-/, '')}` : null;
if (only && !names.includes(only))
  refuse(`say which slice: make dev SLICE=NAME, where NAME is one of ${names.map(shortNameOf).join(', ')}.`);

const target = process.env.CARGO_TARGET_DIR ?? join(root, 'server/target');
const binary = process.env.MKOPO_BINARY ?? join(target, 'debug/mkopo');
if (!existsSync(binary)) refuse(`there is no server at ${binary}: 'make dev' builds it.`);

// The page and the console are where 'make demo' has them; the page passes calls on to the server.
const port = Number(process.env.PORT ?? '8080');
const [consolePort, serverPort] = [port + 1, port + 2];
for (const number of [port, consolePort, serverPort])
  if (!(await isFree(number))) refuse(`port ${number} is in use: choose another with PORT=.`);

const server = new WatchedServer({
  binary,
  // Errors and warnings only.
  build: ['cargo', '--locked', 'build', '--quiet', '--manifest-path', 'server/Cargo.toml'],
  sources: [join(root, 'server'), join(root, 'contract')],
  settings: {
    MKOPO_DEMO: 'true',
    MKOPO_LISTEN: `127.0.0.1:${serverPort}`,
    MKOPO_CONSOLE_LISTEN: `127.0.0.1:${consolePort}`,
    MKOPO_PUBLIC_URL: `http://localhost:${port}`,
    ...(only && { MKOPO_PORTAL_DIR: join(root, 'dist/portal') }),
  },
  address: `http://127.0.0.1:${serverPort}`,
  ended: end,
});
let portal;
process.once('SIGINT', () => end(130));
process.once('SIGTERM', () => end(143));
process.once('uncaughtException', (error) => {
  console.error(error);
  end(1);
});

await server.start({ isFirst: true });
server.watch();
portal = await servePortal({ port, server, serverPort, slices: only ? [only] : names });
const seconds = Math.round((Date.now() - started) / 1000);
console.log(`\n  The portal as you edit it, after ${seconds} s: http://localhost:${port}`);
console.log(`  Save a file of ${only ?? 'a slice'}, the shell or the kit, and the open page is updated.`);
console.log('  Save one of the server or the contract, and the server is built and restarted.\n');

/** Ends all that runs, once. */
async function end(code) {
  if (process.exitCode !== undefined) return;
  process.exitCode = code;
  await server.stop();
  await portal?.stop();
  process.exit();
}

function refuse(sentence) {
  console.error(`mkopo: ${sentence}`);
  process.exit(1);
}

function shortNameOf(name) {
  return name.slice('mfe-'.length);
}
