import { createServer } from 'node:net';

/**
 * The first of `count` ports in a row that are free on the loopback address.
 *
 * @returns {Promise<number>}
 */
export async function freePorts(count = 1) {
  const first = await ifFree(0);
  for (let port = first + 1; port < first + count; port += 1)
    if (port > 65_535 || !(await ifFree(port))) return freePorts(count);
  return first;
}

/** Listens for a moment, at any port for 0; resolves to the port, or to nothing if it is taken. */
export function ifFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const { port: taken } = server.address();
      server.close(() => resolve(taken));
    });
  });
}
