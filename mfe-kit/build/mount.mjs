/**
 * Mounts a built slice in a built shell, without a browser: the shell's page runs in jsdom with the slice
 * as the only live one, and draws each of the given screens. Prints the outcome of each as JSON. There is
 * no provider, so the screens draw their failed states.
 *
 *     node mfe-kit/build/mount.mjs SHELL SLICE-FOLDER PATH…
 *
 * SHELL is the folder of a package or of a build, or the address of a portal that runs one.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { JSDOM, VirtualConsole } from 'jsdom';
import { listedBuild, MANIFEST } from './manifest.mjs';

const PATIENCE_MS = 15_000;
const TYPES = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.html': 'text/html',
};

const [shell, sliceFolder, ...paths] = process.argv.slice(2);
const readShell = /^https?:/.test(shell) ? elsewhere(shell) : folder(buildIn(shell, 'index.html'));
const readSlice = folder(buildIn(sliceFolder, MANIFEST));

const manifest = await readSlice(MANIFEST);
const { buildName: name, buildVersion: version } = JSON.parse(manifest).metaData.buildInfo;
const list = JSON.stringify({
  portal: { brand: 'Mkopo', product: 'Mkopo', demo: false, allow_override: false, slice_origins: [] },
  shell: null,
  slices: { [name]: listedBuild(`/slices/${name}/${version}/${MANIFEST}`, manifest) },
});

const server = createServer((request, response) => {
  answer(new URL(request.url, 'http://portal').pathname).then(
    ([type, body]) => response.writeHead(200, { 'content-type': type }).end(body),
    () => response.writeHead(404).end(),
  );
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

// Errors of a page are reported with what it draws.
const thrown = [];
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => thrown.push(String(error?.message ?? error)));

const mounted = [];
for (const path of paths) mounted.push(await mount(path));
process.stdout.write(JSON.stringify(mounted), () => process.exit(0));

async function answer(path) {
  if (path === '/slices.json') return ['application/json', list];
  const own = `/slices/${name}/${version}/`;
  const isPage = paths.includes(path) || !extname(path);
  const file = path.startsWith(own)
    ? await readSlice(path.slice(own.length))
    : await readShell(isPage ? 'index.html' : path.slice(1));
  if (path.startsWith('/api/')) throw new Error('there is no provider');
  return [TYPES[isPage ? '.html' : extname(path)] ?? 'application/octet-stream', file];
}

/** Opens one screen as a signed-in user, and waits for its heading. */
async function mount(path) {
  const errors = [];
  const console = new VirtualConsole();
  console.on('jsdomError', (error) => errors.push(error.detail?.message ?? error.message));
  const page = await JSDOM.fromURL(`${origin}${path}`, {
    runScripts: 'dangerously',
    resources: 'usable',
    pretendToBeVisual: true,
    virtualConsole: console,
    beforeParse: asBrowsersAre,
  });
  const { document } = page.window;
  const headings = () => [...document.querySelectorAll('#root h1')].map((heading) => heading.textContent);
  const failed = () => document.querySelector('main [role=alert]')?.textContent ?? '';
  const given = Date.now() + PATIENCE_MS;
  while (headings().length === 0 && Date.now() < given)
    await new Promise((resolve) => setTimeout(resolve, 25));
  const isFailure =
    /^(This part of the portal could not be loaded|This page has stopped working|Page Not Found|The portal could not be loaded)/;
  const failure =
    headings().find((heading) => isFailure.test(heading)) ??
    (headings().length === 0 ? 'The screen drew no heading' : null);
  return {
    path,
    headings: headings(),
    failure: failure && [failure, failed(), ...errors, ...thrown].join(' — '),
  };
}

/** Adds what jsdom lacks, and signs a user in. */
function asBrowsersAre(window) {
  window.fetch = (address, options) => fetch(new URL(address.url ?? address, window.location.href), options);
  Object.assign(window, {
    AbortController,
    AbortSignal,
    Headers,
    Request,
    Response,
    TextEncoder,
    TextDecoder,
  });
  window.matchMedia = (media) =>
    Object.assign(new window.EventTarget(), { matches: false, media, addListener() {}, removeListener() {} });
  window.scrollTo = () => undefined;
  for (const observer of ['ResizeObserver', 'IntersectionObserver'])
    window[observer] = class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
  window.Element.prototype.checkVisibility = () => true;
  window.HTMLDialogElement.prototype.close = function () {
    this.open = false;
  };
  const user = { id: 1, username: 'Achieng', email: 'agent@mkopo.test', role: 'admin' };
  // The sign-in screens are for visitors.
  if (!/^\/(login|password-reset)/.test(window.location.pathname)) {
    window.localStorage.setItem('auth_token', 'token-1');
    window.localStorage.setItem('user', JSON.stringify(user));
  }
}

function buildIn(path, file) {
  return existsSync(join(path, file)) ? path : join(path, 'dist');
}

function folder(path) {
  return (file) => readFile(join(path, normalize(`/${file}`)));
}

function elsewhere(address) {
  return async (file) => {
    const answer = await fetch(new URL(`/${file === 'index.html' ? '' : file}`, address));
    if (!answer.ok) throw new Error(`${file}: HTTP ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  };
}
