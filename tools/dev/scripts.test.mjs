import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePorts } from '../machine/ports.mjs';

let folder;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'mkopo-scripts-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs a script of this folder; answers its exit code and what it said. */
async function run(script, args, env = {}) {
  const command = [join(import.meta.dirname, script), ...args];
  return promisify(execFile)(process.execPath, command, {
    env: { ...process.env, ...env },
    timeout: 50_000,
  }).then(
    ({ stdout }) => ({ code: 0, said: stdout.trim() }),
    ({ code, stderr }) => ({ code, said: stderr.trim() }),
  );
}

test.for(['repayments', 'mfe-repayments'])('make slice NAME=%s makes mfe-repayments', async (name) => {
  const into = join(folder, 'made');
  expect(await run('new-slice.mjs', [name, into])).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(join(into, 'package.json'), 'utf8'))).toMatchObject({
    name: 'mfe-repayments',
  });
});

test('a name with a space is refused, and nothing is made', async () => {
  const { code, said } = await run('new-slice.mjs', ['repay ments', join(folder, 'made')]);
  expect(code).toBe(1);
  expect(said).toMatch(/^mkopo: 'repay ments' is not a slice's name: /);
  expect(await readdir(folder)).toEqual([]);
});

test('make dev without the server says where it is missing', async () => {
  const binary = join(folder, 'mkopo');
  expect(await run('dev.mjs', ['loans'], { MKOPO_BINARY: binary })).toEqual({
    code: 1,
    said: `mkopo: there is no server at ${binary}: 'make dev' builds it.`,
  });
});

test('make dev on a port in use says which, and what to set', async () => {
  const free = await freePorts(2);
  const port = free + 1;
  const other = createServer();
  await new Promise((resolve) => other.listen(port, '127.0.0.1', resolve));
  const env = { MKOPO_BINARY: process.execPath, PORT: String(free) };
  expect(await run('dev.mjs', [], env)).toEqual({
    code: 1,
    said: `mkopo: port ${port} is in use: choose another with PORT=.`,
  });
  other.close();
});

test('make dev ends when the server does', async () => {
  // A program that takes `serve` for a file that is not there, and fails.
  const env = { MKOPO_BINARY: process.execPath, PORT: String(await freePorts(3)) };
  const { code } = await run('dev.mjs', ['mfe-loans'], env);
  expect(code).toBe(1);
});
