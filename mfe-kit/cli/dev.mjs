import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import webpack from 'webpack';
import DevServer from 'webpack-dev-server';
import { bringsOf, editedBuild, MANIFEST } from '../build/manifest.mjs';
import { configOf } from './build.mjs';
import { closedToOthers } from './closed-to-others.mjs';
import { ask, portalAt, readList } from './portal.mjs';
import { Refusal } from './refusal.mjs';
import { portalOf, readSlicePackage } from './slice-package.mjs';

const OWN = '/@slice/';

/** The shell's development build: in the package, or where this repository packs it. */
const SHELLS = ['../shell', '../dist/package/shell'].map((path) => join(import.meta.dirname, path));

/**
 * Runs the portal on this machine: a development build of the shell, the slice as it is edited, and from the
 * running portal its API and the other slices. A change updates the screen and keeps its state.
 */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: { portal: { type: 'string' }, port: { type: 'string', default: process.env.PORT ?? '3000' } },
  });
  const slicePackage = readSlicePackage();
  const portal = portalAt(portalOf(slicePackage, values.portal));
  await readList(portal);
  await refuseUsed(values.port);
  const shell = SHELLS.find((folder) => existsSync(join(folder, 'index.html')));
  if (!shell) throw new Refusal("the kit has no shell: run 'npm run pack --workspace mfe-kit' first.");

  const config = await configOf(slicePackage.folder, 'development');
  await serve({ slicePackage, portal, shell, port: Number(values.port), config });
  const here = `http://localhost:${values.port}`;
  const [{ path = '/' } = {}] = bringsOf(slicePackage).screens;
  console.log(`\n  ${slicePackage.name} as you edit it: ${here}${path.includes(':') ? '/' : path}`);
  console.log(`  In the running portal, reloading: ${portal}/?slice=${slicePackage.name}@${here}${OWN}\n`);
}

/** Serves the shell, the slice as `config` compiles it, and the rest from the portal. */
export async function serve({ slicePackage, portal, shell, port, config }) {
  const open = options(slicePackage, portal, shell, port);
  const server = new DevServer(closedToOthers(open, { portal }), webpack(config));
  await server.start();
  return server;
}

/** Webpack's server ends the process where it can't listen, so that is tried before. */
async function refuseUsed(port) {
  const probe = createServer();
  const listening = new Promise((resolve, reject) => {
    probe.once('error', reject).listen(Number(port), '127.0.0.1', resolve);
  });
  await listening.catch(({ code }) => {
    throw new Refusal(`port ${port} can't be used (${code}): choose another with --port.`);
  });
  await new Promise((resolve) => probe.close(resolve));
}

function options(slicePackage, portal, shell, port) {
  const passedOn = { target: portal, changeOrigin: true, headers: { origin: portal } };
  return {
    host: '127.0.0.1', // reachable from this machine only
    port,
    hot: true,
    static: { directory: shell, watch: false },
    historyApiFallback: { disableDotRule: true, htmlAcceptHeaders: ['text/html'] }, // as the portal does
    devMiddleware: { publicPath: OWN },
    client: { overlay: { errors: true, warnings: false, runtimeErrors: false } },
    proxy: [{ context: ['/api', '/slices/', '/spans'], ...passedOn }],
    setupMiddlewares: (middlewares) => [
      {
        name: 'slices.json',
        path: '/slices.json',
        middleware: (_request, response) => {
          listWith(portal, slicePackage).then(
            (list) => response.set('Cache-Control', 'no-cache').json(list),
            ({ message }) => response.status(502).json({ error: message }),
          );
        },
      },
      ...middlewares,
    ],
  };
}

async function listWith(portal, slicePackage) {
  const list = await (await ask(portal, '/slices.json')).json();
  // The page's policy is not the portal's, nothing else is to be overridden, and nobody reports what is edited.
  Object.assign(list.portal, { allow_override: false, reports: false });
  // What it brings may have been edited.
  list.slices[slicePackage.name] = editedBuild(readSlicePackage(slicePackage.folder), `${OWN}${MANIFEST}`);
  return list;
}
