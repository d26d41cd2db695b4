import { expect, test } from '@playwright/test';
import { address, compose, consoleAddress, containers } from './stack';

/** Publish a build each; their program runs in Node.js. */
const PUBLISHERS = ['mfe-shell', 'mfe-auth', 'mfe-loans', 'mfe-transactions'];

/** The only containers with ports of this machine. */
const DOORS = ['server', 'balancer'];

// S-79
test('every container has only the privileges it needs', async () => {
  const all = await containers();
  expect(all.map(({ service }) => service)).toEqual(expect.arrayContaining(['server', ...PUBLISHERS]));
  for (const { service, State, Config, HostConfig, NetworkSettings } of all)
    await test.step(service, async () => {
      expect.soft(State.Health?.Status).toBe('healthy');
      expect.soft(Config.User).not.toMatch(/^(0|root)?(:|$)/);
      expect.soft(HostConfig).toMatchObject({
        ReadonlyRootfs: true,
        Privileged: false,
        CapDrop: ['ALL'],
        RestartPolicy: { Name: 'unless-stopped' },
        LogConfig: { Config: { 'max-size': '10m', 'max-file': '3' } },
      });
      expect.soft(HostConfig.CapAdd ?? []).toEqual([]);
      expect.soft(HostConfig.SecurityOpt).toEqual(['no-new-privileges:true']);
      for (const limit of [HostConfig.Memory, HostConfig.NanoCpus, HostConfig.PidsLimit])
        expect.soft(limit).toBeGreaterThan(0);
      expect
        .soft(Config.Labels['org.opencontainers.image.title'] ?? 'postgres')
        .toMatch(/^Mkopo: |^postgres$/);

      const published = Object.values(NetworkSettings.Ports).flatMap((ports) => ports ?? []);
      expect.soft(published.filter(({ HostIp }) => HostIp !== '127.0.0.1')).toEqual([]);
      expect.soft(published.length > 0).toBe(DOORS.includes(service));

      const tools =
        'cargo rustc cc gcc make git curl wget' + (PUBLISHERS.includes(service) ? '' : ' node npm');
      const inside = await compose(
        'exec',
        '-T',
        service,
        'bash',
        '-c',
        `id -u
         grep -E '^(CapEff|CapBnd|NoNewPrivs):' /proc/self/status
         for folder in / /etc /usr/local/bin /var/lib; do
           { : >"$folder/written"; } 2>/dev/null && echo "$folder can be written"
         done
         for tool in ${tools}; do command -v "$tool"; done
         true`,
      );
      const [user, ...rest] = inside.split('\n');
      expect.soft(Number(user)).toBeGreaterThan(0);
      expect
        .soft(rest.map((line) => line.replace(/\s+/, ' ')).sort())
        .toEqual(['CapBnd: 0000000000000000', 'CapEff: 0000000000000000', 'NoNewPrivs: 1']);
    });
});

test('the page, its files and the slices are compressed in advance and have the right cache headers', async () => {
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(new URL(path, address), { headers, redirect: 'manual' });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const FOR_A_YEAR = 'public, max-age=31536000, immutable';

  const page = await get('/pending-loans', { Accept: 'text/html' });
  expect(page.status).toBe(200);
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self' 'sha256-/,
  );
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  const [script] = /\/assets\/[^"]+\.js/.exec(page.text) ?? [];

  const list = await get('/slices.json');
  expect(list.headers.get('cache-control')).toBe('private, no-cache');
  const again = await get('/slices.json', { 'If-None-Match': list.headers.get('etag') ?? '' });
  expect(again.status).toBe(304);
  const { portal, slices } = JSON.parse(list.text) as {
    portal: { demo: boolean; console: string; allow_override: boolean };
    slices: Record<string, { version: string; entry: string }>;
  };
  expect(portal).toMatchObject({ demo: true, console: consoleAddress, allow_override: true });
  expect(Object.keys(slices).sort()).toEqual(['mfe-auth', 'mfe-loans', 'mfe-transactions']);

  const entry = slices['mfe-loans']?.entry ?? '';
  for (const path of [script ?? '', entry, entry.replace('mf-manifest.json', 'remoteEntry.js')])
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const)
      await test.step(`${path} with Accept-Encoding ${accepted}`, async () => {
        const file = await get(path, { 'Accept-Encoding': accepted });
        expect.soft(file.status).toBe(200);
        expect.soft(file.headers.get('content-encoding')).toBe(encoding);
        expect.soft(file.headers.get('vary')).toMatch(/accept-encoding/i);
        expect.soft(file.headers.get('cache-control')).toBe(FOR_A_YEAR);
      });

  for (const missing of [
    '/assets/none.js',
    '/slices/mfe-loans/9.9.9/mf-manifest.json',
    '/slices/mfe-none/1/a.js',
  ])
    await test.step(`${missing} is a 404, not the page`, async () => {
      const answer = await get(missing);
      expect.soft(answer.status).toBe(404);
      expect.soft(answer.headers.get('cache-control') ?? '').not.toContain('immutable');
      expect.soft(answer.text).not.toContain('<div id="root">');
    });

  for (const [path, status] of [
    ['/api/v1/openapi.json', 200],
    ['/api/v1/auth/me', 401],
    ['/docs/', 200],
  ] as const)
    await test.step(`${path} is answered by the provider`, async () => {
      const answer = await get(path);
      expect.soft(answer.status).toBe(status);
      expect.soft(answer.headers.get('x-request-id')).toBeTruthy();
    });

  await test.step('the kit is served with its gallery, and builds are not taken without a token', async () => {
    const newest = await get('/kit/mfe-kit.tgz');
    expect.soft(newest.status).toBe(302);
    const kit = newest.headers.get('location') ?? '';
    expect.soft(kit).toMatch(/^\/kit\/mfe-kit-[\d.]+\.tgz$/);
    expect.soft((await get(kit)).status).toBe(200);
    expect.soft((await get('/kit/gallery')).headers.get('location')).toBe('/kit/gallery/');
    const compressed = await get('/kit/gallery/', { 'Accept-Encoding': 'br' });
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect.soft((await get('/kit/gallery/')).text).toContain('Parts of mfe-kit');
    const refused = await fetch(new URL('/deploy/slices', address), {
      method: 'POST',
      headers: { Authorization: 'Bearer mkopo_deploy_wrong', 'Content-Type': 'application/octet-stream' },
      body: new Uint8Array(1_000_000),
    });
    expect.soft(refused.status).toBe(401);
    expect.soft((await get('/kit/mfe-kit-9.9.9.tgz')).status).toBe(404);
  });

  await test.step('the console is on its own port only', async () => {
    expect.soft((await fetch(`${consoleAddress}/console/api/invariant`)).status).toBe(401);
    for (const path of ['/console', '/console/api/invariant', '/metrics'])
      expect.soft((await get(path)).status, path).toBe(404);
  });
});
