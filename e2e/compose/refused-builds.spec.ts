import { expect, test } from '@playwright/test';
import { docker, liveSlices } from './stack';

const project = process.env.COMPOSE_PROJECT_NAME ?? 'mkopo';

interface Refusal {
  what: string;
  /** The commands that change the build before it is published. */
  script?: string;
  /** Whose token the container has: a slice's, or none. */
  token: 'loans' | 'auth' | 'none';
  said: RegExp;
}

const REFUSALS: Refusal[] = [
  {
    what: 'a token of another slice',
    token: 'auth',
    said: /^mfe-loans 0\.1\.\d+ is refused: This token deploys mfe-auth, and not mfe-loans\.$/,
  },
  {
    what: 'no token',
    token: 'none',
    said: /^mfe-loans 0\.1\.\d+ waits: there is no deploy token in \/deploy-token\/token\.$/,
  },
  {
    what: 'a build for another shell',
    token: 'loans',
    script: `sed -i 's/"0\\.1\\.[0-9]*"/"0.9.0"/' package.json dist/mf-manifest.json &&
      sed -i 's/\\^0\\.2\\.0/^9.0.0/g' dist/mf-manifest.json`,
    said: /^mfe-loans 0\.9\.0 waits: It was built for mfe-kit(\/\S+)? \^9\.0\.0; this shell has 0\.2\.0\.$/,
  },
];

/** Runs a container of mfe-loans until it is unhealthy; returns what it logged last. */
async function refused({ token, script = 'true' }: Refusal): Promise<string | undefined> {
  const given = {
    loans: ['--volume', `${project}_token-loans:/deploy-token:ro`],
    auth: ['--volume', `${project}_token-auth:/deploy-token:ro`],
    none: [],
  }[token];
  const container = await docker(
    ...['run', '--detach', '--user', 'root', '--network', `${project}_portal`],
    ...['--env', 'MKOPO_PORTAL=http://provider:8080', '--env', 'MKOPO_INSECURE=true'],
    ...['--health-start-period', '1s'],
    ...given,
    `${project}-mfe-loans`,
    ...['sh', '-c', `${script} && exec node /mfe-kit/mfe-kit.mjs deploy`],
  );
  const health = () => docker('inspect', '--format', '{{.State.Health.Status}}', container);
  await expect.poll(health, { timeout: 60_000 }).toBe('unhealthy');
  const logged = await docker('logs', container);
  await docker('rm', '--force', container);
  return logged.split('\n').at(-1);
}

for (const refusal of REFUSALS)
  test(`${refusal.what} is one sentence in the log and changes nothing`, async () => {
    const before = await liveSlices();
    expect(await refused(refusal)).toMatch(refusal.said);
    expect(await liveSlices()).toEqual(before);
  });
