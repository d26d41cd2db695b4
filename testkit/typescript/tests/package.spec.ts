import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'mkopo-test';

const run = promisify(execFile);

/** The program of somebody who has nothing but the package. */
const PROGRAM = `
  import { Portal, VERSION } from 'mkopo-test/client';
  const { MKOPO_URL, MKOPO_CONSOLE_URL, MKOPO_CONSOLE_TOKEN } = process.env;
  const portal = await Portal.connect({ url: MKOPO_URL, consoleUrl: MKOPO_CONSOLE_URL, consoleToken: MKOPO_CONSOLE_TOKEN });
  const mkopo = await portal.makeSandbox();
  const agent = await mkopo.sessions.open('agent');
  const paid = await agent.payOut(await mkopo.loans.approve());
  await portal.removeSandbox(mkopo);
  console.log(VERSION, paid.status);
`;

test('the tarball of the portal works in a folder of its own', async ({ mkopo }) => {
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-test-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'program.js'), PROGRAM);
  const tarball = `${process.env.MKOPO_URL}/kit/mkopo-test.tgz`;
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=peer', tarball];
  await run('npm', install, { cwd: folder });
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder });
  const contract = await mkopo.portal.GET('/api/v1/openapi.json');
  const { info } = contract.data as { info: { version: string } };
  expect(stdout).toBe(`${info.version} COMPLETED\n`);
  await rm(folder, { recursive: true });
});
