import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { address, docker, signIn } from './stack';

const root = join(import.meta.dirname, '../..');
const image = process.env.MKOPO_IMAGE ?? 'mkopo';

test('one container has the whole product, and is ready within a second', async ({ page }) => {
  const { container, portal, api, readyAt } = await start(['--read-only', '--cap-drop', 'ALL']);
  const startedAt = Date.parse(await docker('inspect', '--format', '{{.State.StartedAt}}', container));
  console.log(`   the product is ready ${readyAt - startedAt} ms after its start`);
  expect(readyAt - startedAt).toBeLessThan(1_000);

  expect(await docker('exec', container, 'id', '-u')).toBe('10001');
  const labels = await docker('inspect', '--format', '{{json .Config.Labels}}', container);
  expect(JSON.parse(labels)).toMatchObject({
    'org.opencontainers.image.title': 'Mkopo',
    'org.opencontainers.image.licenses': 'MIT',
  });
  await page.goto(portal);
  await expect(page.getByLabel('Email')).toBeVisible();
  expect((await fetch(`${portal}/kit/`)).status).toBe(200);
  expect((await fetch(`${api}/invariant`)).status).toBe(401);
  await docker('stop', container);
});

test('the sandbox that a guest takes along goes on in another container', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'taken-'));
  const given = await start();
  const token = await docker('exec', given.container, 'cat', '/data/console.token');
  const made = await fetch(`${given.api}/story-links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ story: 'lost-answer' }),
  });
  const link = new URL(((await made.json()) as { url: string }).url);
  const opened = await fetch(`${given.portal}${link.pathname}`, { method: 'POST', redirect: 'manual' });
  const [origin, code] = (opened.headers.get('location') ?? '').split('/enter#');
  const sandbox = { 'Mkopo-Sandbox': new URL(origin!).hostname.split('.')[0]! };
  const entered = await fetch(`${given.portal}/story/enter`, {
    method: 'POST',
    headers: { ...sandbox, Origin: given.portal, 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const { user } = (await entered.json()) as { user: { token: string } };
  const taken = await fetch(`${given.portal}/story/file`, {
    headers: { ...sandbox, Authorization: `Bearer ${user.token}` },
  });
  await writeFile(join(folder, 'lost-answer.mkopo'), Buffer.from(await taken.arrayBuffer()));
  await chmod(folder, 0o755);
  await docker('stop', given.container);

  const there = await start(['--volume', `${folder}:/taken:ro`], ['--from', '/taken/lost-answer.mkopo']);
  const loans = await fetch(`${there.portal}/api/v1/disbursements/pending`, {
    headers: { Authorization: `Bearer ${await signIn(there.portal)}` },
  });
  expect(await loans.json()).toContainEqual(expect.objectContaining({ loan_id: 'LN-AMINA' }));
  await docker('stop', there.container);
  await rm(folder, { recursive: true });
});

/** Starts the whole product in a container; returns the addresses of its portal and of the console's API. */
async function start(options: string[] = [], command: string[] = []) {
  const ports = ['--publish', '127.0.0.1::8080', '--publish', '127.0.0.1::8081'];
  const container = await docker('run', '--detach', '--rm', ...ports, ...options, image, 'demo', ...command);
  const at = async (port: number) => `http://${await docker('port', container, `${port}/tcp`)}`;
  const portal = await at(8080);
  await expect(async () => expect((await fetch(`${portal}/readyz`)).status).toBe(200)).toPass({
    intervals: [50],
  });
  const readyAt = Date.now();
  return { container, portal, api: `${await at(8081)}/console/api`, readyAt };
}

test('the examples with Testcontainers work as they are in the documentation', async () => {
  const page = await readFile(join(root, 'docs/testing.md'), 'utf8');
  const section = /\n## With Testcontainers\n(?<text>[^]*?)\n## /.exec(page)?.groups?.text ?? '';
  const example = (language: string) =>
    RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\``).exec(section)?.[1]?.replace("'mkopo'", `'${image}'`) ?? '';
  const text = section.replaceAll(/```[^]*?```/g, '');
  const commands = [...text.matchAll(/^ {4}(.+)$/gm)].map(([, command]) => command);
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-testcontainers-'));
  await writeFile(join(folder, 'payout.spec.ts'), example('ts'));
  await writeFile(join(folder, 'test_payout.py'), example('python').replace('"mkopo"', `"${image}"`));
  expect(commands).toHaveLength(5);
  // Its image, which removes what a killed test leaves, can't be pulled everywhere.
  const env = { ...process.env, MKOPO_URL: address, TESTCONTAINERS_RYUK_DISABLED: 'true' };
  for (const command of commands)
    await test.step(command ?? '', () =>
      promisify(execFile)('bash', ['-c', command ?? ''], { cwd: folder, env }),
    );
  await rm(folder, { recursive: true });
});
