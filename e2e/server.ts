import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');

/** The program under test. */
export const BINARY = process.env.MKOPO_BINARY ?? join(root, 'server/target/debug/mkopo');

/** A running portal that all journeys use; without one, they start their own. */
export const DEPLOYED = process.env.MKOPO_E2E_URL;

/** The token of the console of the portal under test. */
export const CONSOLE_TOKEN = process.env.MKOPO_E2E_CONSOLE_TOKEN ?? 'the-token-of-the-journeys';

/** The addresses of a portal and of its console. */
export interface Server {
  address: string;
  console: string;
}

/** Starts the real server on two free ports with new demo data. */
export async function startServer(environment: Record<string, string> = {}) {
  const data = await mkdtemp(join(tmpdir(), 'mkopo-e2e-'));
  const server = spawn(BINARY, ['serve'], {
    env: {
      ...process.env,
      MKOPO_DEMO: 'true',
      MKOPO_DATA_DIR: data,
      MKOPO_PORTAL_DIR: join(root, 'dist/portal'),
      MKOPO_LISTEN: '127.0.0.1:0',
      MKOPO_CONSOLE_TOKEN: CONSOLE_TOKEN,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const { address, console } = await new Promise<Server>((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      lines.push(line);
      const listening = /"message":"listening","address":"([^"]+)","console":"([^"]+)"/.exec(line);
      if (listening) resolve({ address: `http://${listening[1]}`, console: `http://${listening[2]}` });
    });
    server.on('exit', (code) =>
      reject(new Error(`the server ended with ${String(code)}:\n${lines.join('\n')}`)),
    );
  });
  const stop = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  return { address, console, stop };
}
