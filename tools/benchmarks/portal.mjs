import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../..');

/** Starts the real server with new demo data on a free port, and answers its address. */
export async function startServer(stops) {
  const binary = [
    process.env.MKOPO_BINARY,
    join(root, 'server/target/release/mkopo'),
    join(root, 'server/target/debug/mkopo'),
  ].find((path) => path && existsSync(path));
  if (!binary)
    throw new Error('the server is not built; run `cargo build --release --manifest-path server/Cargo.toml`');
  const data = await mkdtemp(join(tmpdir(), 'mkopo-bench-'));
  const server = spawn(binary, ['serve'], {
    env: {
      ...process.env,
      MKOPO_DEMO: 'true',
      MKOPO_DATA_DIR: data,
      MKOPO_PORTAL_DIR: join(root, 'dist/portal'),
      MKOPO_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  stops.push(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true, force: true });
  });
  return new Promise((resolve, reject) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      const listening = /"message":"listening","address":"([^"]+)"/.exec(line);
      if (listening) resolve(`http://${listening[1]}`);
    });
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

/** Signs the demo's agent in. */
export async function signIn(page, address) {
  await page.goto(`${address}/login`);
  await page.getByLabel('Email').fill('agent@mkopo.test');
  await page.getByLabel('Password', { exact: true }).fill('Mkopo-demo-1');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
}
