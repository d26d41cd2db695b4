import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../test';
import { address, compose, containers, healthy } from './stack';

const root = join(import.meta.dirname, '../..');

/** Another team's checkout, with a newer version of the loans slice and private file permissions. */
function checkoutWithNewerLoans(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mkopo-checkout-'));
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter(Boolean)) {
    const path = join(folder, file);
    cpSync(join(root, file), path);
    chmodSync(path, statSync(path).mode & 0o700);
  }
  const change = (file: string, from: string, to: string) => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    expect(text, file).toContain(from);
    writeFileSync(path, text.replaceAll(from, to));
  };
  change('mfe-loans/package.json', '"version": "0.1.0"', '"version": "0.1.1"');
  change('mfe-loans/src/loans-texts.ts', 'Pending Disbursements', 'Loans to pay out');
  return folder;
}

const liveVersions = async () => {
  const answer = await fetch(`${address}/slices.json`);
  const { slices } = (await answer.json()) as { slices: Record<string, { version: string }> };
  return Object.fromEntries(Object.entries(slices).map(([name, { version }]) => [name, version]));
};

test('one slice is rebuilt and replaced while the portal is in use, and nothing else restarts', async ({
  page,
  mkopo,
}) => {
  const before = await containers();
  const versions = await liveVersions();
  expect(versions['mfe-loans']).toMatch(/^0\.1\.0\+/);
  await mkopo.signIn(page, 'agent');
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Pending Disbursements' })).toBeVisible();

  const checkout = checkoutWithNewerLoans();
  const failed: string[] = [];
  const replaced = new AbortController();
  const inUse = (async () => {
    while (!replaced.signal.aborted) {
      for (const path of ['/', '/slices.json', '/api/v1/openapi.json', '/slices/mfe-auth/build.json']) {
        const answer = await fetch(`${address}${path}`).catch(() => null);
        if (answer?.status !== 200) failed.push(`${path}: ${answer?.status ?? 'no answer'}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  await test.step('docker compose up -d --build mfe-loans', async () => {
    const project = ['--project-directory', checkout, '--file', join(checkout, 'docker-compose.yml')];
    await compose(...project, 'up', '--detach', '--build', 'mfe-loans').finally(() => {
      rmSync(checkout, { recursive: true });
    });
    await healthy('mfe-loans');
  });
  replaced.abort();
  await inUse;
  expect(failed, 'what did not answer meanwhile').toEqual([]);

  await test.step('the new version is live, and the others are unchanged', async () => {
    const now = await liveVersions();
    expect(now['mfe-loans']).toMatch(/^0\.1\.1\+/);
    expect(now).toEqual({ ...versions, 'mfe-loans': now['mfe-loans'] });
  });

  await test.step('an open page with the old version still works', async () => {
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await expect(page.getByRole('row').nth(1)).toBeVisible();
    await page.reload();
    await expect(page.getByRole('heading', { level: 1, name: 'Loans to pay out' })).toBeVisible();
  });

  await test.step('only one container was replaced', async () => {
    const state = (all: typeof before, service: string) =>
      all
        .filter((container) => container.service === service)
        .map(({ Id, State, RestartCount }) => ({ Id, StartedAt: State.StartedAt, RestartCount }));
    const after = await containers();
    for (const { service } of before)
      if (service === 'mfe-loans') expect(state(after, service)).not.toEqual(state(before, service));
      else expect(state(after, service), service).toEqual(state(before, service));
  });
});
