/**
 * Runs benchmarks, and writes what they measure to docs/performance.json and docs/performance.md.
 *
 *   node e2e/benchmarks/run.mjs [BENCHMARK…]      all but first-start and tests, which take long
 *   node e2e/benchmarks/run.mjs --enter FILE…     sections that were measured otherwise, as JSON like theirs
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { withFigures, withSection } from './performance.mjs';

const root = join(import.meta.dirname, '../..');
const cargo = (command, ...options) => [
  'cargo',
  '--locked',
  command,
  '--manifest-path',
  'server/Cargo.toml',
  ...options,
];
const onPostgres = ['e2e/postgres', 'with', '--flushed'];
const BENCHMARKS = {
  lists: [cargo('bench', '--bench', 'lists')],
  payouts: [cargo('bench', '--bench', 'payouts')],
  engines: [[...onPostgres, ...cargo('bench', '--bench', 'engines')]],
  sandboxes: [[...onPostgres, ...cargo('bench', '--bench', 'sandboxes')]],
  'first-page': [cargo('build', '--release'), ['node', 'e2e/benchmarks/first-page.mjs']],
  'pending-loans': [
    cargo('build'),
    ['npx', 'playwright', 'test', '--config', 'e2e/benchmarks/playwright.config.ts'],
  ],
  'next-change': [['node', 'e2e/benchmarks/next-change.mjs']],
  'transaction-history': [['node', 'e2e/benchmarks/transaction-history.mjs']],
  'first-start': [['node', 'e2e/benchmarks/clean-clone.mjs', 'first-start']],
  tests: [['node', 'e2e/benchmarks/clean-clone.mjs', 'tests']],
};
const LONG = ['first-start', 'tests'];

const load = os.loadavg()[0].toFixed(1);
const [first, ...rest] = process.argv.slice(2);
if (first === '--enter') for (const file of rest) publish(readFileSync(file, 'utf8'));
else runAll(first ? [first, ...rest] : Object.keys(BENCHMARKS).filter((name) => !LONG.includes(name)));

function runAll(names) {
  const unknown = names.find((name) => !(name in BENCHMARKS));
  if (unknown) {
    console.error(`mkopo: there is no benchmark '${unknown}', only ${Object.keys(BENCHMARKS).join(', ')}.`);
    process.exit(2);
  }
  const folder = mkdtempSync(join(os.tmpdir(), 'mkopo-bench-'));
  const failed = names.filter((name) => {
    const file = join(folder, name);
    const env = { ...process.env, MKOPO_BENCH_FIGURES: file };
    const isDone = BENCHMARKS[name].every(
      ([program, ...options]) =>
        spawnSync(program, options, { cwd: root, env, stdio: 'inherit' }).status === 0,
    );
    // One that is over its budget fails, but has measured everything.
    if (existsSync(file)) publish(readFileSync(file, 'utf8'));
    return !isDone;
  });
  rmSync(folder, { recursive: true });
  if (failed.length > 0) {
    console.error(`mkopo: failed or over budget: ${failed.join(', ')}.`);
    process.exit(1);
  }
}

/** Adds sections, one a line or one in all, to both files. */
function publish(text) {
  const data = join(root, 'docs/performance.json');
  const document = join(root, 'docs/performance.md');
  const lines = text.trim().startsWith('{\n') ? [text] : text.trim().split('\n');
  let sections = existsSync(data) ? JSON.parse(readFileSync(data, 'utf8')) : [];
  for (const line of lines) sections = withSection(sections, JSON.parse(line), thisRun());
  writeFileSync(data, `${JSON.stringify(sections, null, 1)}\n`);
  writeFileSync(document, withFigures(readFileSync(document, 'utf8'), sections));
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
