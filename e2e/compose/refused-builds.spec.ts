import { expect, test } from '@playwright/test';
import { consoleCall, docker, liveSlices } from './stack';

const project = process.env.COMPOSE_PROJECT_NAME ?? 'mkopo';

/** Makes another version of the build in a container. */
const NEWER = `sed -i 's/"0\\.1\\.[0-9]*"/"0.9.0"/' package.json dist/mf-manifest.json`;

interface Refusal {
  what: string;
  /** The commands that change the build before it is published. */
  script?: string;
  /** Whose token the container has: a slice's, none, or one that was revoked. */
  token: 'loans' | 'auth' | 'none' | 'revoked';
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
    what: 'a token that was revoked',
    token: 'revoked',
    said: /^mfe-loans 0\.1\.\d+ is refused: This needs a valid deploy token.*\.$/,
  },
  {
    what: 'a build for another shell',
    token: 'loans',
    script: `${NEWER} && sed -i 's/\\^0\\.2\\.0/^9.0.0/g' dist/mf-manifest.json`,
    said: /^mfe-loans 0\.9\.0 waits: It was built for mfe-kit(\/\S+)? \^9\.0\.0; this shell has 0\.2\.0\.$/,
  },
  {
    what: 'a damaged file',
    token: 'loans',
    script: `${NEWER} && truncate --size 1000 dist/mf-manifest.json`,
    said: /^mfe-loans 0\.9\.0 is refused: .*\.$/,
  },
  {
    what: 'a version that exists with other content',
    token: 'loans',
    script: 'echo >dist/other.txt',
    said: /^mfe-loans 0\.1\.\d+ is refused: This version was already published with different files\..*\.$/,
  },
];

/** Runs a container of mfe-loans until it is unhealthy; returns what it logged last. */
async function refused({ token, script = 'true' }: Refusal): Promise<string | undefined> {
  const given = {
    loans: ['--volume', `${project}_token-loans:/deploy-token:ro`],
    auth: ['--volume', `${project}_token-auth:/deploy-token:ro`],
    none: [],
    revoked: ['--env', `MKOPO_DEPLOY_TOKEN=${await revokedToken()}`],
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

async function revokedToken() {
  const added = { slice: 'mfe-loans', name: `revoked-${Date.now()}` };
  const { token } = await consoleCall<{ token: string }>('POST', '/deploy-tokens', added);
  await consoleCall('DELETE', `/deploy-tokens/mfe-loans/${added.name}`);
  return token;
}

for (const refusal of REFUSALS)
  test(`${refusal.what} is one sentence in the log and changes nothing`, async () => {
    const before = await liveSlices();
    expect(await refused(refusal)).toMatch(refusal.said);
    expect(await liveSlices()).toEqual(before);
  });
