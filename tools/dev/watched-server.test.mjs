import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { freePorts } from '../machine/ports.mjs';
import { WatchedServer } from './watched-server.mjs';

// Programs are started, on machines that do other things, too.
vi.setConfig({ testTimeout: 60_000 });
const IN_TIME = { timeout: 20_000 };

/** A server that answers with its source, whose first line names the program that runs it. */
const serverThatSays = (text, { endsAfterMs = 0 } = {}) => `#!${process.execPath}
require('node:http')
  .createServer((_request, response) => response.end(${JSON.stringify(text)}))
  .listen(Number(process.env.TEST_PORT), '127.0.0.1');
process.on('SIGTERM', () => setTimeout(process.exit, ${endsAfterMs}));
`;

/** The build of that server: its source is the program, unless it has an error. */
const BUILD = `
const { chmodSync, copyFileSync, readFileSync } = require('node:fs');
const [source, binary] = process.argv.slice(1);
if (readFileSync(source, 'utf8').includes('error')) process.exit(1);
copyFileSync(source, binary + '.new');
chmodSync(binary + '.new', 0o755);
require('node:fs').renameSync(binary + '.new', binary);
`;

let folder, source, binary, server, said, ended;
beforeEach(async () => {
  said = [];
  for (const way of ['log', 'error'])
    vi.spyOn(console, way).mockImplementation((line) => said.push(line.trim()));
  folder = await mkdtemp(join(tmpdir(), 'mkopo-watched-'));
  await mkdir(join(folder, 'src'));
  source = join(folder, 'src/main.js');
  binary = join(folder, 'server');
  for (const file of [source, binary]) await writeFile(file, serverThatSays('first'), { mode: 0o755 });
  const port = await freePorts();
  ended = vi.fn();
  server = new WatchedServer({
    binary,
    build: [process.execPath, '-e', BUILD, source, binary],
    sources: [join(folder, 'src')],
    settings: { TEST_PORT: String(port) },
    address: `http://127.0.0.1:${port}`,
    ended,
  });
  await server.start({ isFirst: true });
  server.watch();
});
afterEach(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const answer = async () => {
  await server.ready();
  return (await fetch(server.address)).text();
};

/** Saves the source as many editors do: as another file, which then has its name. */
async function save(text) {
  await writeFile(`${source}.tmp`, text);
  await rename(`${source}.tmp`, source);
}

test('a change is built, and calls wait for the restarted server', async () => {
  for (const text of ['second', 'third']) {
    await save(serverThatSays(text));
    await vi.waitFor(async () => expect(await answer()).toBe(text), IN_TIME);
    await vi.waitFor(
      () => expect(said.at(-1)).toMatch(/^The server is restarted after \d+\.\d s, /),
      IN_TIME,
    );
  }
  expect(ended).not.toHaveBeenCalled();
});

test('what cannot be built leaves the server running, and what is mended is built', async () => {
  await save('an error');
  await vi.waitFor(
    () => expect(said).toContain("mkopo: the server can't be built; the one before goes on running."),
    IN_TIME,
  );
  expect(await answer()).toBe('first');
  await save(serverThatSays('mended'));
  await vi.waitFor(async () => expect(await answer()).toBe('mended'), IN_TIME);
});

test('a change while the server is restarted restarts it again', async () => {
  await save(serverThatSays('second', { endsAfterMs: 1000 }));
  await vi.waitFor(async () => expect(await answer()).toBe('second'), IN_TIME);
  await save(serverThatSays('third'));
  await vi.waitFor(async () => expect(await readFile(binary, 'utf8')).toContain('third'), IN_TIME);
  await save(serverThatSays('fourth'));
  await vi.waitFor(async () => expect(await answer()).toBe('fourth'), IN_TIME);
  expect(ended).not.toHaveBeenCalled();
});

test('a server that ends by itself ends all', async () => {
  await save(`#!${process.execPath}\nprocess.exit(3)\n`);
  await vi.waitFor(() => expect(ended).toHaveBeenCalledExactlyOnceWith(3), IN_TIME);
});
