/**
 * Times what somebody waits for who has just cloned the repository: in a temporary clone, with empty target folder and
 * empty caches of cargo and npm. Takes many minutes and all cores.
 *
 *   node e2e/benchmarks/clean-clone.mjs first-start    the README's first command, until the portal answers
 *   node e2e/benchmarks/clean-clone.mjs tests          `make test`, and once more
 */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../ports.mjs';
import { handOver } from './figures.mjs';

const COLD =
  'In a new clone of the commit, with empty target folder and empty caches of cargo and npm; downloads count, ' +
  'the clone does not. Rust, Node.js, Chromium and what the system’s package manager installs are there, and the ' +
  'system may still have their files in memory.';

const root = join(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'mkopo-clean-'));
const clone = join(folder, 'clone');
let running;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => void finish().then(() => process.exit(1)));
try {
  execFileSync('git', ['clone', '--quiet', root, clone]);
  const env = await coldEnvironment();
  if (process.argv[2] === 'first-start') await timeFirstStart(env);
  else if (process.argv[2] === 'tests') await timeTests(env);
  else throw new Error("say 'first-start' or 'tests'");
} finally {
  await finish();
}

async function timeFirstStart(env) {
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  const [, command] = /^## Start$.*?^```sh\n([^#\n]*?) *(#.*)?$/ms.exec(readme);
  const port = await freePorts(2); // The console takes the next one.
  console.log(`${command}, on port ${port}`);
  const seconds = await time(start(command, { ...env, PORT: port }), () =>
    answers(`http://127.0.0.1:${port}/readyz`),
  );
  const signIns = [];
  for (let turn = 0; turn < 5; turn += 1) signIns.push(await timeSignIn(port));
  const figures = [
    { what: `\`${command}\` until the portal answers`, unit: 's', values: [seconds], target: '≤ 240' },
  ];
  figures.push({ what: 'a sign-in then', unit: 'ms', values: signIns, target: '≤ 100' });
  const tables = [{ title: 'From a clean clone to a portal', figures }];
  tables.push({ title: 'The ten slowest crates (`cargo build --timings`)', figures: await slowestCrates() });
  show(tables);
  handOver({ bench: 'first-start', title: 'The first start', how: COLD, tables });
}

async function timeTests(env) {
  const tables = [{ title: '`make test`', figures: [] }];
  for (const [which, target] of [
    ['the first time', '≤ 840'],
    ['the second time', '≤ 420'],
  ]) {
    const tests = start('make test', env);
    const seconds = await time(tests, () => tests.exitCode === 0);
    tables[0].figures.push({ what: which, unit: 's', values: [seconds], target });
    const steps = [...(await said()).matchAll(/^ *(\d+) s {2}(.+)$/gm)];
    tables.push({
      title: `Steps, ${which}; some run side by side`,
      figures: steps.map(([, took, what]) => ({ what, unit: 's', values: [Number(took)] })),
    });
  }
  show(tables);
  handOver({ bench: 'tests', title: 'The tests', how: COLD, tables });
}

/** Environment with empty caches, and with a cargo that writes down how long each crate took. */
async function coldEnvironment() {
  const env = { ...process.env, CARGO_HOME: join(folder, 'cargo'), npm_config_cache: join(folder, 'npm') };
  for (const name of Object.keys(env))
    if (/^(CARGO_TARGET_DIR|CARGO_BUILD_.*|RUSTC_WRAPPER|MAKE.*|MFLAGS|MKOPO_.*|PORT)$/.test(name))
      delete env[name];
  mkdirSync(env.CARGO_HOME);
  // It may name the mirror from which this machine downloads.
  const settings = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'config.toml');
  if (existsSync(settings)) copyFileSync(settings, join(env.CARGO_HOME, 'config.toml'));
  const cargo = execFileSync('sh', ['-c', 'command -v cargo'], { encoding: 'utf8' }).trim();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh\ncase " $* " in *' build '*) exec '${cargo}' "$@" --timings ;; esac\nexec '${cargo}' "$@"\n`;
  await writeFile(join(bin, 'cargo'), script, { mode: 0o755 });
  return { ...env, PATH: `${bin}:${env.PATH}` };
}

/** Starts a command in the clone, in a process group of its own. */
function start(command, env) {
  const log = openSync(join(folder, 'log'), 'w');
  running = spawn('sh', ['-c', command], { cwd: clone, env, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  return running;
}

/** The seconds until something is so; fails if the command ends before. */
async function time(command, isSo) {
  const started = performance.now();
  while (!(await isSo())) {
    if ((command.exitCode ?? command.signalCode) !== null)
      throw new Error(
        `it ended with ${command.exitCode ?? command.signalCode}:\n${(await said()).slice(-3000)}`,
      );
    await sleep(100);
  }
  return (performance.now() - started) / 1000;
}

function said() {
  return readFile(join(folder, 'log'), 'utf8');
}

function answers(url) {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function timeSignIn(port) {
  const started = performance.now();
  const { ok } = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'agent@mkopo.test', password: 'Mkopo-demo-1' }),
  });
  if (!ok) throw new Error('the sign-in failed');
  return performance.now() - started;
}

async function slowestCrates() {
  const reports = join(clone, 'server/target/cargo-timings');
  const units = [];
  for (const file of (await readdir(reports)).filter((name) => /^cargo-timing-.*\.html$/.test(name))) {
    const [, data] = /^const UNIT_DATA = (\[.*?^\]);/ms.exec(await readFile(join(reports, file), 'utf8'));
    units.push(...JSON.parse(data));
  }
  const slowest = units.toSorted((one, other) => other.duration - one.duration).slice(0, 10);
  return slowest.map(({ name, version, target, duration }) => ({
    what: `${name} ${version}${target}`.trimEnd(),
    unit: 's',
    values: [duration],
  }));
}

function show(tables) {
  for (const { title, figures } of tables) {
    console.log(`\n${title}`);
    for (const { what, unit, values } of figures)
      console.log(
        `  ${values
          .map((value) => value.toFixed(1))
          .join(', ')
          .padStart(8)} ${unit}  ${what}`,
      );
  }
}

/** Ends what was started, and removes everything. */
async function finish() {
  if (running) {
    for (const signal of ['SIGTERM', 'SIGKILL']) {
      try {
        process.kill(-running.pid, signal);
        await sleep(3000);
      } catch {
        break; // None of its processes is left.
      }
    }
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
