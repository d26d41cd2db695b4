import { createServer } from 'node:net';

/**
 * The first of `count` ports in a row that are free on the loopback address, none of which the system gives to others.
 *
 * @returns {Promise<number>}
 */
export async function freePorts(count = 1) {
  const first = 20_000 + Math.floor(Math.random() * 12_000);
  for (let port = first; port < first + count; port += 1) if (!(await isFree(port))) return freePorts(count);
  return first;
}

/** Listens for a moment; resolves to whether it could. */
export function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
