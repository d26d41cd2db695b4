import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';

/** Starts a misconfigured server in its own container; returns its exit code and output. */
async function refusal(...options: string[]): Promise<{ code: number; said: string[] }> {
  const args = ['compose', 'run', '--rm', '--no-deps', '-T', ...options, 'server'];
  const failed = await promisify(execFile)('docker', args).then(
    () => ({ code: 0, stderr: '' }),
    (error: unknown) => error as { code: number; stderr: string },
  );
  // Leaves out the container engine's lines about networks and containers.
  return { code: failed.code, said: failed.stderr.split('\n').filter((line) => line.startsWith('mkopo:')) };
}

for (const [what, options, sentence] of [
  [
    'a volume that can not be written',
    ['--user', '10002:10002'],
    /^mkopo: can't lock \/data\/.* its folder must exist and be writable/,
  ],
  [
    'a secret’s file that is not there',
    ['--env', 'MKOPO_JWT_SECRET_FILE=/run/secrets/jwt'],
    /^mkopo: MKOPO_JWT_SECRET_FILE can't be '\/run\/secrets\/jwt': it can't be read/,
  ],
] as const)
  test(`${what} is reported in one line, and the container exits`, async () => {
    const { code, said } = await refusal(...options);
    expect(code).not.toBe(0);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(sentence);
  });
