/**
 * Times what somebody waits for who has just cloned the repository: in a temporary clone, with empty target folder and
 * empty caches of cargo and npm. Takes many minutes and all cores.
 *
 *   node tools/benchmarks/clean-clone.mjs first-start    the README's first command, until the portal answers
 *   node tools/benchmarks/clean-clone.mjs tests          `make test`, and once more
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../machine/ports.mjs';
import { Clone } from './clone.mjs';
import { handOver, show } from './figures.mjs';

const COLD =
  'In a new clone of the commit, with empty target folder and empty caches of cargo and npm; downloads count, ' +
  'the clone does not. Rust, Node.js, Chromium and what the system’s package manager installs are there, and the ' +
  'system may still have their files in memory.';

const time = { 'first-start': timeFirstStart, tests: timeTests }[process.argv[2]];
if (!time) throw new Error("say 'first-start' or 'tests'");
await Clone.with(time);

async function timeFirstStart(clone) {
  const env = await coldEnvironment(clone);
  const readme = await readFile(join(clone.folder, 'README.md'), 'utf8');
  const [, command] = /^## Start$.*?^```sh\n([^#\n]*?) *(#.*)?$/ms.exec(readme);
  const port = await freePorts(2); // The console takes the next one.
  console.log(`${command}, on port ${port}`);
  clone.start(command, { ...env, PORT: port });
  const seconds = await clone.time(() => answers(`http://127.0.0.1:${port}/readyz`));
  const signIns = [];
  for (let turn = 0; turn < 5; turn += 1) signIns.push(await timeSignIn(port));
  const figures = [
    { what: `\`${command}\` until the portal answers`, unit: 's', values: [seconds], target: '≤ 240' },
  ];
  figures.push({ what: 'a sign-in then', unit: 'ms', values: signIns });
  const tables = [{ title: 'From a clean clone to a portal', figures }];
  tables.push({
    title: 'The ten slowest crates (`cargo build --timings`)',
    figures: await slowestCrates(clone),
  });
  show(tables);
  handOver({ bench: 'first-start', title: 'The first start', how: COLD, tables });
}

async function timeTests(clone) {
  const env = await coldEnvironment(clone);
  const tables = [{ title: '`make test`', figures: [] }];
  for (const [which, target] of [
    ['the first time', '≤ 720'],
    ['the second time', '≤ 300'],
  ]) {
    clone.start('make test', env);
    const seconds = await clone.time(() => clone.exitCode === 0);
    tables[0].figures.push({ what: which, unit: 's', values: [seconds], target });
    const steps = [...(await clone.said()).matchAll(/^ *(\d+) s {2}(.+)$/gm)];
    tables.push({
      title: `Steps, ${which}; some run side by side`,
      figures: steps.map(([, took, what]) => ({ what, unit: 's', values: [Number(took)] })),
    });
  }
  show(tables);
  handOver({ bench: 'tests', title: 'The tests', how: COLD, tables });
}

/** Environment with empty caches, and with a cargo that writes down how long each crate took. */
async function coldEnvironment({ temporary: folder }) {
  const env = Clone.environment();
  Object.assign(env, { CARGO_HOME: join(folder, 'cargo'), npm_config_cache: join(folder, 'npm') });
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

async function slowestCrates(clone) {
  const reports = join(clone.folder, 'server/target/cargo-timings');
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
