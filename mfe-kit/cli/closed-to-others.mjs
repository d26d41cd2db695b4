/** The names of this machine, with those of sandboxes. */
const HERE = /^(localhost|127\.0\.0\.1|.+\.localhost)$/;

/**
 * The options of a development server that answers programs, its own pages and those of its portal, if it has one:
 * what it sends is the source code, also of what is not published. Other pages are refused, and so are other names
 * for its address (DNS rebinding).
 */
export function closedToOthers(options, { portal } = {}) {
  const own = `http://localhost:${options.port}`;
  const pages = portal ? [own, portal] : [own];
  const whose = portal ? `its own pages and those of ${portal}` : 'its own pages';
  const refusalOf = ({ method, headers }) => {
    const { host, origin } = headers;
    if (!isOriginOf(own, `http://${host}`)) return `This development server is at ${own} only.`;
    const isAnswered = origin
      ? pages.some((page) => isOriginOf(page, origin))
      : isFromItself(headers) || isLink(method, headers);
    return isAnswered ? null : `This development server answers only ${whose}.`;
  };
  const refuseOthers = (request, response, next) => {
    response.vary('Origin');
    const refusal = refusalOf(request);
    if (refusal) {
      response.status(403).type('text/plain').send(refusal);
      return;
    }
    const { origin } = request.headers;
    if (origin) response.set('Access-Control-Allow-Origin', origin);
    next();
  };
  return {
    ...options,
    // webpack's own check knows no ports, and takes every IP address for its own.
    allowedHosts: 'all',
    setupMiddlewares: (middlewares) => [refuseOthers, ...options.setupMiddlewares(middlewares)],
    webSocketServer: {
      type: 'ws',
      options: {
        verifyClient: ({ req }, answer) => {
          const refusal = refusalOf(req);
          answer(!refusal, 403, refusal);
        },
      },
    },
  };
}

/** Tells whether an origin is that of an address. This machine has several names. */
function isOriginOf(address, origin) {
  if (origin === address) return true;
  if (!URL.canParse(origin)) return false;
  const [known, given] = [new URL(address), new URL(origin)];
  const isHere = [known, given].every(({ hostname }) => HERE.test(hostname));
  return isHere && given.protocol === known.protocol && given.port === known.port;
}

/** Tells whether one of its own pages asks, the address bar or a program, which says nothing of sites. */
function isFromItself(headers) {
  return [undefined, 'same-origin', 'none'].includes(headers['sec-fetch-site']);
}

/** Tells whether somebody followed a link to a page that opens in a tab, not in a frame. */
function isLink(method, headers) {
  return (
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  );
}
