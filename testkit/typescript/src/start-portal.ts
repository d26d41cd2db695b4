import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Addresses } from './portal';

/** A portal that was started here. */
export interface StartedPortal extends Addresses {
  stop: () => Promise<void>;
}

/** Settings of a portal, such as `{ MKOPO_SCREENS: 'live' }`; `mkopo serve --help` describes them. */
export type Settings = Record<string, string>;

/**
 * Starts a portal with demo data: the program that `MKOPO_BINARY` names or that is on the path, or else the
 * stack of `docker-compose.yml` (`MKOPO_COMPOSE_FILE`). Nothing of it is kept.
 */
export async function startPortal(settings: Settings = {}): Promise<StartedPortal> {
  const binary = process.env.MKOPO_BINARY || onPath('mkopo');
  if (binary) return startBinary(binary, settings);
  const composeFile = process.env.MKOPO_COMPOSE_FILE || 'docker-compose.yml';
  if (existsSync(composeFile)) return startStack(composeFile, settings);
  throw new Error(
    'There is nothing to start a portal with. Set MKOPO_BINARY to the mkopo program, or run the tests where ' +
      'docker-compose.yml is. Tests without settings of their own can use a portal that runs: set MKOPO_URL, ' +
      'MKOPO_CONSOLE_URL and MKOPO_CONSOLE_TOKEN.',
  );
}

/** The signals that end a process without an event `exit`. */
const SIGNALS = ['SIGHUP', 'SIGTERM'] as const;

function exit(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}

async function startBinary(binary: string, settings: Settings): Promise<StartedPortal> {
  const data = await mkdtemp(join(tmpdir(), 'mkopo-test-'));
  const consoleToken = newToken();
  const server = spawn(binary, ['serve'], {
    env: {
      ...withoutSettings(process.env),
      MKOPO_DEMO: 'true',
      MKOPO_DATA_DIR: data,
      MKOPO_LISTEN: '127.0.0.1:0',
      MKOPO_CONSOLE_LISTEN: '127.0.0.1:0',
      MKOPO_CONSOLE_TOKEN: consoleToken,
      ...withAddresses(settings),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => void server.kill('SIGTERM');
  // A test that timed out while it started can't stop it.
  process.once('exit', kill);
  for (const signal of SIGNALS) process.once(signal, exit);
  server.once('close', () => {
    process.off('exit', kill);
    for (const signal of SIGNALS) process.off(signal, exit);
  });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const stop = async () => {
    kill();
    await ended;
    await rm(data, { recursive: true, force: true });
  };
  try {
    const lines: string[] = [];
    return await new Promise<StartedPortal>((resolve, reject) => {
      createInterface({ input: server.stderr }).on('line', (line) => {
        const listening = /"message":"listening","address":"([^"]+)","console":"([^"]+)"/.exec(line);
        const [, address, console] = listening ?? [];
        if (address && console)
          resolve({ url: `http://${address}`, consoleUrl: `http://${console}`, consoleToken, stop });
        if (lines.length < 50) lines.push(line);
      });
      server.once('error', reject);
      server.once('close', (code) =>
        reject(new Error(`${binary} ended with ${String(code)}:\n${lines.join('\n')}`)),
      );
    });
  } catch (error) {
    await rm(data, { recursive: true, force: true });
    throw error;
  }
}

async function startStack(file: string, settings: Settings): Promise<StartedPortal> {
  const [port, consolePort] = [await freePort(), await freePort()];
  const consoleToken = newToken();
  const environment = {
    ...withoutSettings(process.env),
    COMPOSE_PROJECT_NAME: `mkopo-test-${randomBytes(6).toString('hex')}`,
    // Profiles, and the file `.env` beside the stack's, are those of another deployment.
    COMPOSE_PROFILES: '',
    COMPOSE_ENV_FILES: '/dev/null',
    MKOPO_DEMO: 'true',
    MKOPO_PORT: String(port),
    MKOPO_CONSOLE_PORT: String(consolePort),
    MKOPO_CONSOLE_TOKEN: consoleToken,
    // Beside the stacks that may be running on this machine.
    MKOPO_SUBNET: `10.213.${randomInt(79, 256)}`,
    ...settings,
  };
  const compose = async (...args: string[]) =>
    promisify(execFile)('docker', ['compose', '--file', file, ...args], { env: environment });
  const stop = async () => {
    await compose('down', '--volumes', '--remove-orphans');
  };
  await compose('up', '--build', '--wait').catch(async (error: unknown) => {
    await stop().catch(() => undefined);
    throw error;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    consoleUrl: `http://127.0.0.1:${consolePort}`,
    consoleToken,
    stop,
  };
}

/** Settings with which the log says where the server listens, whatever else it says. */
function withAddresses(settings: Settings): Settings {
  const { MKOPO_LOG } = settings;
  return MKOPO_LOG ? { ...settings, MKOPO_LOG: `${MKOPO_LOG},mkopo::commands::serve=info` } : settings;
}

/** The environment without settings of another deployment, which may have real data. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isKept = (name: string) => !name.startsWith('MKOPO_') || name === 'MKOPO_PORTAL_DIR';
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isKept(name)));
}

function onPath(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (!address || typeof address === 'string') throw new Error('No port is free');
  return address.port;
}
