/**
 * Runs benchmarks, and writes what they measure to their sections of docs/performance.md. The value of each round stays
 * in target/benchmarks until the next run.
 *
 *   node tools/benchmarks/run.mjs [BENCHMARK…]      all but first-start, which takes long
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { withSection } from './performance.mjs';

const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/performance.md');
const raw = join(root, 'target/benchmarks');
const LONG = 'first-start';
const cargo = 'cargo --locked';
const manifest = '--manifest-path server/Cargo.toml';
const ofServer = (name) => `${cargo} bench ${manifest} --bench ${name}`;
const inBrowser = (name) =>
  `${cargo} build --release ${manifest} && npx playwright test --config tools/benchmarks/playwright.config.ts ${name}`;
const BENCHMARKS = {
  lists: ofServer('lists'),
  engines: `tools/machine/postgres with --flushed ${ofServer('engines')}`,
  sandboxes: ofServer('sandboxes'),
  'first-page': inBrowser('first-page'),
  'pending-loans': inBrowser('pending-loans'),
  'transaction-history': inBrowser('transaction-history'),
  [LONG]: 'node tools/benchmarks/first-start.mjs',
};

const load = os.loadavg()[0].toFixed(1);
const given = process.argv.slice(2);
const names = given.length > 0 ? given : Object.keys(BENCHMARKS).filter((name) => name !== LONG);
const unknown = names.find((name) => !(name in BENCHMARKS));
if (unknown) {
  console.error(`mkopo: there is no benchmark '${unknown}', only ${Object.keys(BENCHMARKS).join(', ')}.`);
  process.exit(2);
}
mkdirSync(raw, { recursive: true });
const failed = names.filter((name) => !isDone(name));
if (failed.length > 0) {
  console.error(`mkopo: failed: ${failed.join(', ')}.`);
  process.exit(1);
}

/** Runs one benchmark and writes its section. */
function isDone(name) {
  const file = join(raw, `${name}.json`);
  rmSync(file, { force: true });
  const binary = join(root, 'server/target/release/mkopo');
  const env = { ...process.env, MKOPO_BENCH_FIGURES: file, MKOPO_BINARY: binary };
  const { status } = spawnSync(BENCHMARKS[name], { cwd: root, env, shell: true, stdio: 'inherit' });
  if (existsSync(file)) {
    const section = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(page, withSection(readFileSync(page, 'utf8'), section, thisRun()));
  }
  return status === 0;
}

function thisRun() {
  const said = (program, ...options) =>
    execFileSync(program, options, { cwd: root, encoding: 'utf8' }).trim();
  const isChanged = said('git', 'status', '--porcelain', '--', '.', ':!docs') !== '';
  const [processor] = os.cpus();
  return {
    date: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    commit: said('git', 'rev-parse', '--short', 'HEAD') + (isChanged ? ' with changes' : ''),
    load,
    machine: {
      processor: processor?.model ?? 'unknown processor',
      cores: os.cpus().length,
      memory: Math.round(os.totalmem() / 2 ** 30),
      system: `${os.type()} ${os.release()}`,
      disk: os.type() === 'Linux' ? said('stat', '--file-system', '--format', '%T', os.tmpdir()) : 'its disk',
      rust: said('rustc', '--version').split(' ')[1],
      node: process.versions.node,
    },
  };
}
