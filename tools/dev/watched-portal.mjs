import { get } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import webpack from 'webpack';
import DevServer from 'webpack-dev-server';
import { editedBuild, MANIFEST } from '../../mfe-kit/build/manifest.mjs';
import { configOf } from '../../mfe-kit/cli/build.mjs';
import { closedToOthers } from '../../mfe-kit/cli/closed-to-others.mjs';
import shellConfig from '../../mfe-shell/webpack.config.mjs';
import { readPackage, root } from '../portal/slices.mjs';

/**
 * The paths that the server answers, with all below them. It gets no reports of builds: what is edited is not the
 * build that was published with this version.
 */
const OF_SERVER = [
  '/.well-known/',
  '/api',
  '/deploy/',
  '/docs',
  '/healthz',
  '/kit',
  '/open/',
  '/readyz',
  '/slices/',
  '/spans',
  '/story/',
];

/**
 * The shell and slices as they are edited, on one port, with the rest from the server: a change updates the
 * open page, and keeps its state where React can refresh it. Resolves when the page can be opened.
 */
export async function servePortal({ port, server, serverPort, slices }) {
  const portal = new DevServer(
    closedToOthers({
      host: '127.0.0.1', // reachable from this machine only
      port,
      hot: true,
      static: false,
      compress: false, // would hold back the stream of updates
      historyApiFallback: { disableDotRule: true, htmlAcceptHeaders: ['text/html'] }, // as the portal does
      client: { overlay: { errors: true, warnings: false, runtimeErrors: false } },
      proxy: [{ context: OF_SERVER, target: `http://127.0.0.1:${serverPort}` }],
      setupMiddlewares: (middlewares) => [
        {
          name: 'what the server answers, when it does',
          middleware: (request, _response, next) => {
            const isOfServer = [...OF_SERVER, '/slices.json'].some((path) => request.url.startsWith(path));
            if (isOfServer) void server.ready().then(next);
            else next();
          },
        },
        {
          name: 'slices.json',
          path: '/slices.json',
          middleware: (request, response) => {
            listWith(slices, serverPort, request.headers.host).then(
              (list) => response.set('Cache-Control', 'no-cache').json(list),
              ({ message }) => response.status(502).json({ error: message }),
            );
          },
        },
        ...middlewares,
      ],
    }),
    webpack([
      watched(shellConfig({ refreshes: true }, { mode: 'development' })),
      ...(await Promise.all(slices.map(sliceConfig))),
    ]),
  );
  await portal.start();
  await new Promise((resolve) => portal.middleware.waitUntilValid(resolve));
  return portal;
}

async function sliceConfig(name) {
  const config = watched(await configOf(join(root, name), 'development'));
  return { ...config, output: { ...config.output, publicPath: folderOf(name) } };
}

/** A configuration with a cache that no other development build uses; it prints errors and warnings only. */
function watched(config) {
  const cache = { ...config.cache, name: `watched-${config.output.uniqueName}` };
  return { ...config, cache, stats: { all: false, errors: true, warnings: true } };
}

/** The server's list with the slices of this folder. */
async function listWith(slices, serverPort, host) {
  const answer = await new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: serverPort, path: '/slices.json', headers: { host } }, resolve).on(
      'error',
      reject,
    );
  });
  const list = await json(answer);
  for (const name of slices) {
    list.slices[name] = editedBuild(await readPackage(name), `${folderOf(name)}${MANIFEST}`);
  }
  return list;
}

function folderOf(name) {
  return `/@slice/${name}/`;
}
