import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const LIST = {
  shell: { kit: '0.2.0', libraries: { react: '19.3.1' }, screens: [{ path: '/settings' }], icons: ['money'] },
  slices: { 'mfe-loans': { screens: [{ path: '/pending-loans' }] } },
};
const SHARED = [
  { name: 'react', requiredVersion: '^19.0.0' },
  { name: 'mfe-kit', requiredVersion: '^0.2.0' },
  { name: 'mfe-kit/ui', requiredVersion: '^0.2.0' },
];
const BRINGS = {
  screens: [{ path: '/repayments', title: 'Repayments' }],
  menu: [{ label: 'Repayments', to: '/repayments', icon: 'money' }],
};

let folder;
let portal;
/** The portal's answers, by method and path, and the calls that it received. */
let answers;
let received;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-command-'));
  answers = { 'GET /slices.json': [200, LIST] };
  received = [];
  portal = createServer((request, response) => {
    const call = `${request.method} ${request.url.split('?')[0]}`;
    received.push({ call: `${request.method} ${request.url}`, headers: request.headers });
    const [status, body] = answers[call] ?? [404, { error: 'Not found.' }];
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise((resolve) => portal.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await new Promise((resolve) => portal.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

/** An address of the portal that counts as another machine's: only 127.0.0.0/8 is loopback. */
const elsewhere = () => `http://0.0.0.0:${portal.address().port}`;

const addressOf = (server) => `http://127.0.0.1:${server.address().port}`;

/** Runs the command in the folder; answers its exit code and what it said. */
async function run(args, env = {}) {
  const command = join(import.meta.dirname, 'mfe-kit.mjs');
  const settings = {
    ...process.env,
    MKOPO_PORTAL: addressOf(portal),
    MKOPO_DEPLOY_TOKEN: '',
    MKOPO_INSECURE: '',
    CI: 'true',
    ...env,
  };
  return promisify(execFile)(process.execPath, [command, ...args], {
    cwd: folder,
    env: settings,
    timeout: 50_000,
  }).then(
    ({ stdout }) => ({ code: 0, said: stdout.trim() }),
    ({ code, stderr }) => ({ code, said: stderr.trim() }),
  );
}

/** A slice that is built. */
async function makeSlice({ brings = BRINGS, shared = SHARED } = {}) {
  await mkdir(join(folder, 'dist'));
  const slicePackage = { name: 'mfe-repayments', version: '0.1.0', slice: brings };
  const metaData = { buildInfo: { buildVersion: '0.1.0', buildName: 'mfe-repayments' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(slicePackage));
  await writeFile(join(folder, 'dist/mf-manifest.json'), JSON.stringify({ metaData, shared, brings }));
}

const refused = (said) => ({ code: 1, said: `mfe-kit: ${said}` });

test('a build that fits is said to load', async () => {
  await makeSlice();
  const said = `mfe-repayments 0.1.0 will load in ${addressOf(portal)}.`;
  expect(await run(['check'])).toEqual({ code: 0, said });
});

test('a build for another major of the kit, a path that is taken and an unknown icon are named', async () => {
  const shared = SHARED.map(({ name }) => ({ name, requiredVersion: '^1.0.0' }));
  await makeSlice({
    shared,
    brings: {
      screens: [{ path: '/pending-loans' }],
      menu: [{ label: 'Repayments', to: '/pending-loans', icon: 'unicorn' }],
    },
  });
  expect(await run(['check'])).toEqual(
    refused(
      [
        'It was built for react ^1.0.0; this shell has 19.3.1.',
        'It was built for mfe-kit ^1.0.0; this shell has 0.2.0.',
        'mfe-repayments wants the path /pending-loans, which mfe-loans has.',
        'Its menu entry "Repayments" has the icon "unicorn", which mfe-kit 0.2.0 does not have.',
      ].join('\n'),
    ),
  );
});

test('a portal that is down, and an address that is not one', async () => {
  await makeSlice();
  const address = 'http://127.0.0.1:4';
  const at = (MKOPO_PORTAL) => ({ MKOPO_PORTAL, MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_1' });
  const isDown = refused(`${address} can't be reached: connect ECONNREFUSED ${address.slice(7)}.`);
  for (const command of ['check', 'dev', 'publish']) {
    expect(await run([command], at(address)), command).toEqual(isDown);
    expect(await run([command], at('portal')), command).toEqual(
      refused("'portal' is not the address of a portal."),
    );
  }
  answers['GET /slices.json'] = [200, {}];
  const noPortal = refused(`${addressOf(portal)} is not a Mkopo portal: it has no /slices.json.`);
  expect(await run(['check'])).toEqual(noPortal);
});

test('the conformance test says what is wrong with the portal of a slice', async () => {
  await makeSlice({ brings: { ...BRINGS, portal: 'of the package' } });
  const module = JSON.stringify(join(import.meta.dirname, '../build/conformance.mjs'));
  const code = `await import(${module}).catch(({ message }) => process.stdout.write(message))`;
  const said = async (MKOPO_PORTAL) => {
    const options = { cwd: folder, env: { ...process.env, MKOPO_PORTAL } };
    return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], options)).stdout;
  };
  expect(await said(undefined)).toBe("'of the package' is not the address of a portal.");
  answers['GET /slices.json'] = [404, {}];
  expect(await said(addressOf(portal))).toContain('is not a Mkopo portal: it has no /slices.json.');
});

test('without a deploy token nothing is sent', async () => {
  await makeSlice();
  const said =
    "publishing needs the deploy token of mfe-repayments in MKOPO_DEPLOY_TOKEN: 'mkopo slice token add mfe-repayments' makes one.";
  expect(await run(['publish'])).toEqual(refused(said));
  expect(received).toEqual([]);
});

test('the portal has the last word, as it is', async () => {
  await makeSlice();
  const error = 'The deploy token ci of mfe-repayments has expired; `mkopo slice token add` makes another.';
  answers['POST /deploy/slices'] = [401, { error }];
  expect(await run(['publish'], { MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_old' })).toEqual(refused(error));
  answers['POST /deploy/slices'] = [502, '<html>'];
  expect(await run(['publish', '--token', 'mkopo_deploy_old'])).toEqual(
    refused(`${addressOf(portal)} answered 502 and is not a Mkopo portal.`),
  );
});

test('a build is published with the token, and --hold and --force are passed on', async () => {
  await makeSlice();
  answers['POST /deploy/slices'] = [201, { live: '0.1.0' }];
  const env = { MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_1' };
  const said = 'mfe-repayments 0.1.0 is published; it is live.';
  expect(await run(['publish', '--force'], env)).toEqual({ code: 0, said });
  answers['POST /deploy/slices'] = [200, { live: null }];
  expect(await run(['publish', '--hold'], env)).toEqual({
    code: 0,
    said: 'mfe-repayments 0.1.0 was already published; no build is live.',
  });
  expect(received.map(({ call }) => call)).toEqual([
    'POST /deploy/slices?force=true',
    'POST /deploy/slices?hold=true',
  ]);
  expect(received[0].headers.authorization).toBe('Bearer mkopo_deploy_1');
});

test('a deploy token goes to another machine with TLS only, unless --insecure or MKOPO_INSECURE is given', async () => {
  await makeSlice();
  answers['POST /deploy/slices'] = [201, { live: '0.1.0' }];
  const address = elsewhere();
  const env = { MKOPO_PORTAL: address, MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_1' };
  const noTls = refused(
    `${address} has no TLS: the token could be read on the way; give an address with https://, or add --insecure (MKOPO_INSECURE=true).`,
  );
  expect(await run(['publish'], env)).toEqual(noTls);
  expect(await run(['publish'], { ...env, MKOPO_INSECURE: 'false' })).toEqual(noTls);
  expect(await run(['publish', '--portal', address, '--token', 'mkopo_deploy_1'])).toEqual(noTls);
  expect(received).toEqual([]);

  const published = { code: 0, said: 'mfe-repayments 0.1.0 is published; it is live.' };
  expect(await run(['publish', '--insecure'], env)).toEqual(published);
  expect(await run(['publish'], { ...env, MKOPO_INSECURE: 'true' })).toEqual(published);
  const sent = received.map(({ headers }) => headers.authorization);
  expect(sent).toEqual(['Bearer mkopo_deploy_1', 'Bearer mkopo_deploy_1']);
});

test('a deploy token with characters that no header has is refused', async () => {
  await makeSlice();
  expect(await run(['publish'], { MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_…' })).toEqual(
    refused('the deploy token has characters that no token has.'),
  );
});

test('an address without TLS is refused before the slice is built', async () => {
  await makeSlice();
  await rm(join(folder, 'dist'), { recursive: true });
  const env = { MKOPO_PORTAL: elsewhere(), MKOPO_DEPLOY_TOKEN: 'mkopo_deploy_1' };
  expect((await run(['publish'], env)).said).toMatch(/^mfe-kit: \S+ has no TLS: /);
});

test('a command that sends no token needs no TLS', async () => {
  await makeSlice();
  const said = `mfe-repayments 0.1.0 will load in ${elsewhere()}.`;
  expect(await run(['check', '--against', elsewhere()])).toEqual({ code: 0, said });
});

test('commands of a slice run in its folder', async () => {
  for (const command of ['build', 'check', 'dev', 'publish'])
    expect(await run([command])).toEqual(
      refused(`${folder} is not the folder of a slice: run this where its package.json is.`),
    );
});

test('a new slice needs a name, an empty folder and a portal', async () => {
  const wrong =
    "'Repay ments' is not a slice's name: give one such as repayments, of lower-case letters, digits and dashes.";
  expect(await run(['new', 'Repay ments'])).toEqual(refused(wrong));
  expect(await run(['new', 'repayments'])).toEqual(
    refused('say which portal with --portal: this kit was not installed from one.'),
  );
  expect(await readdir(folder)).toEqual([]);
  await makeSlice();
  expect(await run(['new', 'repayments', '--portal', 'http://127.0.0.1:1'])).toEqual(
    refused(`${folder} is not empty: make the slice in an empty folder.`),
  );
});

test('what is not JSON is named', async () => {
  await makeSlice();
  const said = (file) => ({ code: 1, said: expect.stringContaining(`${file} can't be read: `) });
  await writeFile(join(folder, 'dist/mf-manifest.json'), '{');
  expect(await run(['check'])).toEqual(said('mf-manifest.json'));
  await writeFile(join(folder, 'package.json'), '<<<<<<< HEAD');
  expect(await run(['check'])).toEqual(said('package.json'));
});

test('a port that is used or is none is named', async () => {
  await makeSlice();
  const { port } = portal.address();
  expect(await run(['dev', '--port', `${port}`])).toEqual(
    refused(`port ${port} can't be used (EADDRINUSE): choose another with --port.`),
  );
  expect((await run(['dev', '--port', '99999'])).said).toMatch(/^mfe-kit: port 99999 can't be used/);
});

test('the names of the shell and of the kit are no names of slices', async () => {
  for (const name of ['shell', 'mfe-kit'])
    expect((await run(['new', name])).said).toContain(`'${name}' is not a slice's name`);
});

test('the help has the options of each command', async () => {
  const { said } = await run([]);
  expect(said).toContain(
    '  mfe-kit publish [--portal URL] [--token TOKEN] [--hold] [--force] [--insecure]\n',
  );
  expect(said).toContain('  mfe-kit deploy [--insecure]\n');
  expect(said).toMatch(/--insecure .*MKOPO_INSECURE=true/);
});

test('an unknown command or option is refused', async () => {
  expect(await run(['serve'])).toMatchObject({
    code: 1,
    said: expect.stringMatching(/^Commands:\n {2}mfe-kit new /),
  });
  expect(await run(['check', '--aganist', 'x'])).toMatchObject({
    code: 1,
    said: expect.stringMatching(/^mfe-kit: Unknown option '--aganist'/),
  });
});
