import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { provider } from '../src/testing/provider';
import { serve } from './dev.mjs';

// Before the tests, something is compiled, on machines that do other things, too.
vi.setConfig({ hookTimeout: 60_000 });

const LIST = { portal: {}, shell: {}, slices: {} };
/** The slice's code and its source map, the portal's list with it, what is passed on to the portal, and the shell. */
const PATHS = ['/@slice/main.js', '/@slice/main.js.map', '/slices.json', '/api/v1/loans', '/'];

let folder, portal, portalPort, server, port;
/** The calls that the portal received. */
let received;

const SLICE = { name: 'mfe-repayments', version: '0.1.0', slice: {} };

beforeAll(async () => {
  provider.close(); // Calls are passed on to a server of this test.
  folder = await mkdtemp(join(tmpdir(), 'mkopo-edited-'));
  await writeFile(join(folder, 'index.html'), 'The shell');
  await writeFile(join(folder, 'package.json'), JSON.stringify(SLICE));
  await writeFile(join(folder, 'slice.js'), 'export default "The slice as it is edited";');
  portal = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify(request.url === '/slices.json' ? LIST : []));
  });
  portalPort = await listen(portal);
  port = await freePort();
  server = await serveFor(`http://localhost:${portalPort}`, port);
});
beforeEach(() => (received = []));
afterAll(async () => {
  await server.stop();
  await new Promise((resolve) => portal.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

async function freePort() {
  const probe = createServer();
  const free = await listen(probe);
  await new Promise((resolve) => probe.close(resolve));
  return free;
}

/** Serves the slice for a portal, once it is compiled. */
async function serveFor(portal, port) {
  const started = await serve({
    slicePackage: { folder, ...SLICE },
    portal,
    shell: folder,
    port,
    config: {
      mode: 'development',
      context: folder,
      entry: './slice.js',
      devtool: 'source-map',
      cache: false,
      stats: 'none',
      infrastructureLogging: { level: 'error' },
    },
  });
  await new Promise((resolve) => started.middleware.waitUntilValid(resolve));
  return started;
}

/** The answer to a request with exactly these headers; `fetch` would send its own. */
async function ask(path, headers = {}, { method = 'GET', at = port } = {}) {
  const lines = Object.entries({ host: `localhost:${at}`, connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const socket = connect(at, '127.0.0.1');
  socket.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);
  // Once it is upgraded, a connection stays open.
  if (headers.upgrade) socket.once('data', () => socket.end());
  const [head, ...body] = (await text(socket)).split('\r\n\r\n');
  const header = (name) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
  return {
    status: Number(head.split(' ')[1]),
    allowed: header('access-control-allow-origin'),
    vary: header('vary'),
    body: body.join('\r\n\r\n'),
  };
}

/** Opens the stream of updates. */
const follow = (headers, more) =>
  ask(
    '/ws',
    {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
    more,
  );

const REFUSAL = /^This development server answers only its own pages and those of http:\/\/localhost:\d+\.$/;

test('programs, which name no origin, are answered', async () => {
  for (const path of PATHS) expect(await ask(path), path).toMatchObject({ status: 200, allowed: undefined });
  expect(received).toEqual(['GET /slices.json', 'GET /api/v1/loans']);
  expect((await ask('/@slice/main.js')).body).toContain('The slice as it is edited');
});

test('its own pages and those of its portal are answered, and named as who may read it', async () => {
  const own = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
  const ofPortal = ['localhost', '127.0.0.1', 'a-sandbox.localhost'].map(
    (name) => `http://${name}:${portalPort}`,
  );
  for (const origin of [...own, ...ofPortal]) {
    expect(await ask('/@slice/main.js', { origin }), origin).toMatchObject({
      status: 200,
      allowed: origin,
      vary: expect.stringContaining('Origin'),
    });
    expect(await follow({ origin }), origin).toMatchObject({ status: 101 });
  }
});

test('a page of another origin is refused everything', async () => {
  const others = [
    'https://evil.example',
    'http://203.0.113.1',
    `http://localhost.evil.example:${portalPort}`,
    `https://localhost:${portalPort}`,
    `http://localhost:${portalPort}0`,
    'http://localhost',
    'file://',
    'null',
  ];
  for (const origin of others) {
    for (const path of PATHS) {
      const answer = await ask(path, { origin });
      expect(answer, `${origin} ${path}`).toMatchObject({ status: 403, allowed: undefined });
      expect(answer.body).toMatch(REFUSAL);
    }
    const followed = await follow({ origin });
    expect(followed, origin).toMatchObject({ status: 403 });
    expect(followed.body).toMatch(REFUSAL);
  }
  expect(received).toEqual([]);
});

test('a host name that is not its own is refused, as when its address was given to a name of others', async () => {
  for (const host of [`evil.example:${port}`, `203.0.113.1:${port}`, 'localhost', 'localhost:1', '']) {
    const refused = { status: 403, body: `This development server is at http://localhost:${port} only.` };
    for (const path of PATHS) expect(await ask(path, { host }), `${host} ${path}`).toMatchObject(refused);
    const origin = `http://${host}`;
    expect(await follow({ host, origin }), host).toMatchObject(refused);
  }
  expect(received).toEqual([]);
  for (const name of ['127.0.0.1', 'a-sandbox.localhost'])
    expect(await ask('/', { host: `${name}:${port}` }), name).toMatchObject({ status: 200 });
});

test('a script or a frame of another page, which names no origin, is refused; a link is followed', async () => {
  const from = (site, mode, dest) => ({
    'sec-fetch-site': site,
    'sec-fetch-mode': mode,
    'sec-fetch-dest': dest,
  });
  for (const site of ['cross-site', 'same-site']) {
    for (const headers of [from(site, 'no-cors', 'script'), from(site, 'navigate', 'iframe')])
      for (const path of PATHS) expect(await ask(path, headers), path).toMatchObject({ status: 403 });
    const link = from(site, 'navigate', 'document');
    expect(await ask('/', link)).toMatchObject({ status: 200 });
    expect(await ask('/', link, { method: 'POST' })).toMatchObject({ status: 403 });
  }
  for (const site of ['same-origin', 'none'])
    expect(await ask('/@slice/main.js', from(site, 'no-cors', 'script'))).toMatchObject({ status: 200 });
});

describe('for a portal elsewhere', () => {
  let other, at;
  beforeAll(async () => {
    at = await freePort();
    other = await serveFor('https://portal.example.com', at);
  });
  afterAll(() => other.stop());

  test('only its exact origin is answered', async () => {
    const status = async (origin) => (await ask('/@slice/main.js', { origin }, { at })).status;
    expect(await status('https://portal.example.com')).toBe(200);
    expect(await status(`http://localhost:${at}`)).toBe(200);
    for (const origin of [
      'http://portal.example.com',
      'https://portal.example.com:8443',
      'https://a-sandbox.portal.example.com',
      'https://example.com',
    ])
      expect(await status(origin), origin).toBe(403);
    expect(await ask('/', { host: `portal.example.com:${at}` }, { at })).toMatchObject({ status: 403 });
    expect(await follow({ origin: 'https://portal.example.com' }, { at })).toMatchObject({ status: 101 });
  });
});
