import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { provider } from '../src/testing/provider';
import { archiveOf } from './archive.mjs';
import { deploy } from './deploy.mjs';

beforeAll(() => provider.close()); // The portal is a server of this test.

const BUILD = 'mfe-repayments 0.2.0';
const LIVE = [201, { live: '0.2.0', rollout: null }];

let folder;
let portal;
let env;
/** The portal's answers, in order; the last one is repeated. */
let answers;
/** The uploads that the portal received. */
let received;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-deploy-'));
  const slicePackage = { name: 'mfe-repayments', version: '0.2.0', slice: { screens: [] } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(slicePackage));
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'dist/remoteEntry.js'), 'var mfe_repayments;');
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  received = [];
  portal = createServer((request, response) => {
    received.push({ path: request.url, token: request.headers.authorization });
    const [status, body] = answers.length > 1 ? answers.shift() : answers[0];
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise((resolve) => portal.listen(0, '127.0.0.1', resolve));
  const MKOPO_PORTAL = `http://127.0.0.1:${portal.address().port}`;
  env = { MKOPO_PORTAL, MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_1' };
});

afterEach(async () => {
  vi.restoreAllMocks();
  await new Promise((resolve) => portal.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

/** An address of the portal that counts as another machine's: only 127.0.0.0/8 is loopback. */
const elsewhere = () => `http://0.0.0.0:${portal.address().port}`;

/** Deploys; `meanwhile` is called at each wait, with its number. Returns what was said and the seconds of each wait. */
async function run(meanwhile = () => {}, given = env) {
  const [said, waits] = [[], []];
  const stopped = new Error('The container is stopped.');
  const wait = async (seconds) => {
    waits.push(seconds);
    if (waits.length > 15) throw stopped;
    await meanwhile(waits.length);
  };
  const outcome = await deploy(given, { say: (line) => said.push(line), wait }).catch((error) => {
    if (error !== stopped) throw error;
  });
  return { said, waits, isDone: outcome !== undefined };
}

test.each([
  ['a new build is live', LIVE, 'is live.'],
  ['a build that is there and live', [200, { live: '0.2.0' }], 'is there already; it is live.'],
  [
    'a build that is there, and was rolled back',
    [200, { live: '0.1.0' }],
    'is there already; 0.1.0 is live.',
  ],
  ['a build that is held', [201, { live: '0.1.0' }], 'is held; 0.1.0 is live.'],
  ['the first build, held', [201, { live: null }], 'is held; no build is live.'],
  [
    'a rollout',
    [201, { live: '0.1.0', rollout: { version: '0.2.0', percent: 10 } }],
    'is rolled out to 10%.',
  ],
])('%s', async (_, answer, outcome) => {
  answers = [answer];
  expect(await run()).toEqual({ said: [`${BUILD} ${outcome}`], waits: [], isDone: true });
  expect(received).toEqual([{ path: '/deploy/slices', token: 'Bearer mkopo_deploy_1' }]);
});

test.each([
  [{ MKOPO_ROLLOUT: '10:10m,50:1h,100' }, '?plan=10%3A10m%2C50%3A1h%2C100'],
  [{ MKOPO_ROLLOUT: '10%' }, '?percent=10'],
  [{ MKOPO_ROLLOUT: '5' }, '?percent=5'],
  [{ MKOPO_HOLD: 'true' }, '?hold=true'],
  [{ MKOPO_FORCE: 'true' }, '?force=true'],
  [{ MKOPO_ROLLOUT: '', MKOPO_HOLD: '', MKOPO_FORCE: 'false' }, ''],
])('%j is passed on', async (settings, query) => {
  answers = [LIVE];
  await run(() => {}, { ...env, ...settings });
  expect(received.map(({ path }) => path)).toEqual([`/deploy/slices${query}`]);
});

test('what passes by itself is tried again, each reason is said once, and the waits grow', async () => {
  const [noPortal, full] = ['No shell is there yet.', 'The disk is full.'];
  answers = [
    ...Array(13).fill([409, { code: 'no_portal', error: noPortal }]),
    [507, { code: 'no_room', error: full }],
    LIVE,
  ];
  const { said, waits } = await run();
  expect(said).toEqual([`${BUILD} waits: ${noPortal}`, `${BUILD} waits: ${full}`, `${BUILD} is live.`]);
  expect(waits.slice(0, 4)).toEqual([1, 1.5, 2.25, 3.375]);
  expect(waits.slice(9)).toEqual([30, 30, 30, 30, 1]);
  expect(received).toHaveLength(15);
});

test.each([
  [409, 'wrong_shell'],
  [409, 'rollout_runs'],
  [429, 'too_many_uploads'],
  [503, undefined],
])('%i %s passes', async (status, code) => {
  answers = [[status, { code, error: 'Not now.' }], LIVE];
  expect((await run()).said).toEqual([`${BUILD} waits: Not now.`, `${BUILD} is live.`]);
});

test.each([
  [401, 'no_deploy_token'],
  [403, 'wrong_slice'],
  [409, 'build_exists'],
  [409, 'build_outdated'],
  [422, 'bad_build'],
])('%i %s is said once, as the last line, and not tried again', async (status, code) => {
  answers = [[status, { code, error: 'This is refused.' }]];
  const { said, isDone } = await run();
  expect({ said, isDone }).toEqual({ said: [`${BUILD} is refused: This is refused.`], isDone: false });
  expect(received).toHaveLength(1);
});

test('a server that is down is waited for', async () => {
  answers = [LIVE];
  const { port } = portal.address();
  await new Promise((resolve) => portal.close(resolve));
  const up = () => new Promise((resolve) => portal.listen(port, '127.0.0.1', resolve));
  const { said } = await run((wait) => wait === 3 && up());
  const reason = `${env.MKOPO_PORTAL} can't be reached: connect ECONNREFUSED 127.0.0.1:${port}.`;
  expect(said).toEqual([`${BUILD} waits: ${reason}`, `${BUILD} is live.`]);
});

test('a token is waited for, and another one is tried where one was refused', async () => {
  const file = join(folder, 'token');
  answers = [[401, { code: 'no_deploy_token', error: 'This needs a valid deploy token.' }], LIVE];
  const { said } = await run(
    (wait) => (wait === 2 && writeFile(file, 'revoked\n')) || (wait === 5 && writeFile(file, 'valid\n')),
    { ...env, MKOPO_DEPLOY_TOKEN: '', MKOPO_DEPLOY_TOKEN_FILE: file },
  );
  expect(said).toEqual([
    `${BUILD} waits: there is no deploy token in ${file}.`,
    `${BUILD} is refused: This needs a valid deploy token.`,
    `${BUILD} is live.`,
  ]);
  expect(received.map(({ token }) => token)).toEqual(['Bearer revoked', 'Bearer valid']);
});

test('a token goes to another machine with TLS only, unless MKOPO_INSECURE allows it', async () => {
  answers = [LIVE];
  const MKOPO_PORTAL = elsewhere();
  const { said, isDone } = await run(() => {}, { ...env, MKOPO_PORTAL });
  const reason = `${MKOPO_PORTAL} has no TLS: the token could be read on the way; give an address with https://, or add --insecure (MKOPO_INSECURE=true).`;
  expect({ said, isDone }).toEqual({ said: [`${BUILD} waits: ${reason}`], isDone: false });
  expect(received).toEqual([]);
  const allowed = await run(() => {}, { ...env, MKOPO_PORTAL, MKOPO_INSECURE: 'true' });
  expect(allowed.said).toEqual([`${BUILD} is live.`]);
});

/** Runs the program of a container. Its outcome is in the slice's folder. */
function start(args = [], given = env) {
  const command = join(import.meta.dirname, 'mfe-kit.mjs');
  const settings = { ...process.env, MKOPO_INSECURE: '', ...given, TMPDIR: folder };
  const program = spawn(process.execPath, [command, 'deploy', ...args], { cwd: folder, env: settings });
  const started = { program, said: '' };
  program.stdout.on('data', (data) => (started.said += data));
  return started;
}

test('the program stays once the build is published, is healthy then, and stops at once', async () => {
  answers = [[409, { code: 'no_portal', error: 'No shell is there yet.' }]];
  const outcome = join(folder, 'mfe-kit-deployed');
  const started = start();
  await vi.waitFor(() => expect(started.said).toContain('waits'), 20_000);
  expect(existsSync(outcome)).toBe(false);
  answers = [LIVE];
  await vi.waitFor(() => expect(existsSync(outcome)).toBe(true), 20_000);
  const said = `${BUILD} waits: No shell is there yet.\n${BUILD} is live.\n`;
  await vi.waitFor(() => expect(started.said).toBe(said), 20_000);
  const code = new Promise((resolve) => started.program.on('exit', resolve));
  started.program.kill('SIGTERM');
  expect(await code).toBe(0);
});

test('the program takes --insecure', async () => {
  answers = [LIVE];
  const started = start(['--insecure'], { ...env, MKOPO_PORTAL: elsewhere() });
  await vi.waitFor(() => expect(started.said).toBe(`${BUILD} is live.\n`), 20_000);
  started.program.kill('SIGTERM');
});

test('an archive has the files of a build without the compressed ones, whatever their names', async () => {
  const long = join('assets', 'a'.repeat(90), `${'b'.repeat(90)}.js`);
  await mkdir(join(folder, 'dist/assets', 'a'.repeat(90)), { recursive: true });
  for (const file of [long, 'remoteEntry.js.br', 'remoteEntry.js.gz'])
    await writeFile(join(folder, 'dist', file), 'x'.repeat(512));
  const archive = join(folder, 'build.tar');
  await writeFile(archive, await archiveOf(join(folder, 'dist')));
  const { stdout } = await promisify(execFile)('tar', ['--list', '--verbose', '--file', archive]);
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(RegExp(`^-rw-r--r-- .* 512 .* ${long}$`)),
    expect.stringMatching(/^-rw-r--r-- .* 19 .* remoteEntry\.js$/),
  ]);
  await writeFile(join(folder, 'dist', `${'c'.repeat(120)}.js`), '');
  await expect(archiveOf(join(folder, 'dist'))).rejects.toThrow(/^the build has a file whose name can't be/);
  await expect(archiveOf(join(folder, 'none'))).rejects.toThrow(`there is no build in ${folder}/none.`);
});
