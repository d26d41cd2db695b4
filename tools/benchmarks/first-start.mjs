/**
 * Times what somebody waits for who has just cloned the repository: the README's first command, until the portal answers.
 * In a temporary clone, with empty target folder and empty caches of cargo and npm. Takes many minutes and all cores.
 */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../machine/ports.mjs';
import { handOver } from './figures.mjs';

const folder = await mkdtemp(join(tmpdir(), 'mkopo-clone-'));
const clone = join(folder, 'clone');
let portal;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => void remove().then(() => process.exit(1)));
try {
  execFileSync('git', ['clone', '--quiet', join(import.meta.dirname, '../..'), clone]);
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  const [, command] = /^## Start$.*?^```sh\n([^#\n]*?) *(#.*)?$/ms.exec(readme);
  const seconds = await timeUntilItAnswers(command);
  handOver({
    bench: 'first-start',
    title: 'The first start',
    how:
      'In a new clone of the commit, with empty target folder and empty caches of cargo and npm; downloads count, ' +
      'the clone does not. Rust, Node.js, Chromium and what the system’s package manager installs are there, and the ' +
      'system may still have their files in memory.',
    tables: [
      {
        title: 'From a clean clone to a portal',
        figures: [
          { what: `\`${command}\` until the portal answers`, unit: 's', values: [seconds], target: '≤ 240' },
        ],
      },
    ],
  });
} finally {
  await remove();
}

async function timeUntilItAnswers(command) {
  const port = await freePorts(2); // The console takes the next one.
  const started = performance.now();
  // In a process group, which can be ended as a whole.
  const options = { cwd: clone, env: coldEnvironment(port), detached: true, stdio: 'inherit' };
  portal = spawn('sh', ['-c', command], options);
  while (!(await isReady(port))) {
    if (portal.exitCode !== null) throw new Error(`'${command}' ended with ${portal.exitCode}`);
    await sleep(50);
  }
  return (performance.now() - started) / 1000;
}

function isReady(port) {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** This process's environment, with empty caches and without what would change what is built, and where. */
function coldEnvironment(port) {
  const changes = /^(CARGO_TARGET_DIR|CARGO_BUILD_.*|RUSTC_WRAPPER|MAKE.*|MFLAGS|MKOPO_.*)$/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !changes.test(name)));
  const cargo = join(folder, 'cargo');
  mkdirSync(cargo);
  // It may name the mirror from which this machine downloads.
  const settings = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'config.toml');
  if (existsSync(settings)) copyFileSync(settings, join(cargo, 'config.toml'));
  return { ...env, CARGO_HOME: cargo, npm_config_cache: join(folder, 'npm'), PORT: String(port) };
}

/** Ends what runs, and removes everything. */
async function remove() {
  for (const signal of portal ? ['SIGTERM', 'SIGKILL'] : []) {
    try {
      process.kill(-portal.pid, signal);
      await sleep(3000);
    } catch {
      break; // None of its processes is left.
    }
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
