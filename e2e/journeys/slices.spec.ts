import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { APIResponse, Locator, Page, Route } from '@playwright/test';
import { expectAccessible } from '../accessibility';
import { signInHere } from '../acts';
import { BINARY } from '../binary';
import { expect, test as base } from '../test';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The title of the dashboard's table in the bundled build, and in the new one. */
const OLD = 'Pending Disbursements';
const NEW = 'Loans to pay out';

interface Manifest {
  metaData: { buildInfo: { buildVersion: string } };
  shared: { name: string; requiredVersion: string }[];
  integrity: Record<string, string>;
}

interface Fixtures {
  /** Runs `mkopo slice …` as a pipeline does, and returns its output. */
  pipeline: (...words: string[]) => Promise<string>;
  /** Makes a build of a slice with another version, a renamed dashboard and a changed manifest. */
  build: (
    version: string,
    change?: { slice?: string; title?: string; manifest?: (manifest: Manifest) => void },
  ) => Promise<string>;
  /** Serves a folder from its own origin, as a static host does. */
  host: (folder: string, headers?: Record<string, string>) => Promise<string>;
}

const test = base.extend<Fixtures>({
  pipeline: async ({ mkopo }, use) => {
    const console = new URL(mkopo.consoleUrl ?? '').origin;
    await use(async (...words) => {
      const there = ['--server', console, '--token', mkopo.token, '--by', 'journeys'];
      const { stdout } = await run(BINARY, ['slice', ...words, ...there], { env: {} });
      return stdout.trim();
    });
  },
  build: async ({}, use) => {
    const folders: string[] = [];
    await use(async (version, { slice = 'mfe-loans', title = NEW, manifest: change } = {}) => {
      const folder = await mkdtemp(join(tmpdir(), 'mkopo-slice-'));
      folders.push(folder);
      await cp(join(root, slice, 'dist'), folder, { recursive: true });
      const manifest = JSON.parse(await readFile(join(folder, 'mf-manifest.json'), 'utf8')) as Manifest;
      for (const file of await readdir(folder)) {
        if (!/^(dashboard|slice)\..*\.js$/.test(file)) continue;
        const code = await readFile(join(folder, file), 'utf8');
        const changed = code.replaceAll(OLD, title).replace('0.1.0', version);
        await writeFile(join(folder, file), changed);
        manifest.integrity[file] = integrityOf(changed);
      }
      manifest.metaData.buildInfo.buildVersion = version;
      change?.(manifest);
      await writeFile(join(folder, 'mf-manifest.json'), JSON.stringify(manifest));
      return folder;
    });
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  },
  host: async ({}, use) => {
    const servers: Server[] = [];
    await use(async (folder, headers = {}) => {
      const server = createServer((request, response) => {
        const { pathname } = new URL(request.url ?? '/', 'http://host');
        readFile(join(folder, extname(pathname) ? pathname : 'index.html')).then(
          (body) =>
            response
              .writeHead(200, { 'content-type': TYPES[extname(pathname)] ?? 'text/html', ...headers })
              .end(body),
          () => response.writeHead(404, headers).end(),
        );
      });
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    for (const server of servers) server.close();
  },
});

// Builds are shared by all sandboxes of a portal, and these journeys publish other ones as the same version.
test.use({ settings: {} });

const integrityOf = (content: string) => `sha384-${createHash('sha384').update(content).digest('base64')}`;

const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};

const dashboard = (page: Page, title: string) => page.getByRole('heading', { level: 2, name: title });

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Runs in the page: stores a user as a sign-in would. */
function storeSession() {
  const user = { id: 1, username: 'Achieng', email: 'agent@mkopo.test', role: 'admin' };
  localStorage.setItem('auth_token', 'token-1');
  localStorage.setItem('user', JSON.stringify(user));
}

/** Runs in the page: its tab remembers which builds it refused. */
const forgetRefusals = () => sessionStorage.clear();

/** Passes files on with one more space. Each is fetched once: the portal does not wait long when it reads one again. */
function changeOnItsWay() {
  const fetched = new Map<string, APIResponse>();
  return async (route: Route) => {
    const address = route.request().url();
    const response = fetched.get(address) ?? (await route.fetch());
    fetched.set(address, response);
    await route.fulfill({ response, body: `${await response.text()} ` });
  };
}

/** Advances the clock until the portal checks for new versions, which it does once a minute. */
async function waitAMinute(page: Page) {
  await page.clock.fastForward('01:01');
}

test('a new build of a slice is offered in the open portal, and again when it is rolled back', async ({
  page,
  pipeline,
  build,
  mkopo,
}) => {
  await page.clock.install();
  await mkopo.signIn(page, 'agent');
  await expect(dashboard(page, OLD)).toBeVisible();
  const shell = async () => (await fetch(`${mkopo.url}/`)).text();
  const before = await shell();
  const notice = page.getByText('A new version is available');

  await test.step('a pipeline publishes it; the page offers it, and shows it after Reload', async () => {
    const folder = await build('0.2.0');
    expect(await pipeline('publish', folder)).toBe('mfe-loans 0.2.0 is published; it is live.');
    expect(await pipeline('publish', folder)).toBe('mfe-loans 0.2.0 was already published; it is live.');
    await expect(notice).toBeHidden();
    await waitAMinute(page);
    await expect(notice).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect(dashboard(page, NEW)).toBeVisible();
    await expect(notice).toBeHidden();
    expect(await shell()).toBe(before);
  });

  await test.step('About shows its address', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    const about = page.getByRole('region', { name: 'About' });
    await about.getByText('Parts of this page').click();
    await expect(about.getByRole('row', { name: /^mfe-loans/ })).toContainText(
      `${mkopo.url}/slices/mfe-loans/0.2.0/0.2.0`,
    );
    await expect(about.getByRole('row', { name: /^mfe-shell/ })).toContainText('0.1.0');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Dashboard' }).click();
  });

  await test.step('it is rolled back', async () => {
    expect(await pipeline('rollback', 'mfe-loans')).toBe('mfe-loans 0.1.0 is live.');
    await waitAMinute(page);
    await page.getByRole('button', { name: 'Reload' }).click();
    await expect(dashboard(page, OLD)).toBeVisible();
    const list = (await pipeline('list')).split('\n').filter((line) => line.startsWith('mfe-loans'));
    expect(list).toEqual([
      expect.stringMatching(/^mfe-loans\t0\.2\.0\t-\tpublished\t.*\tjourneys$/),
      'mfe-loans\t0.1.0\tlive\tbundled\t-\t-',
    ]);
    expect(await pipeline('publish', await build('0.3.0'), '--plan', '99:10m,100')).toBe(
      'mfe-loans 0.3.0 is published; 99% of browsers get it, the others 0.1.0.',
    );
  });
});

test.describe('when the live build of a slice', () => {
  test.use({ expectedError: /./ });

  const LIVE = '**/slices/mfe-loans/0.2.0/';
  const CHANGED = 'Its code is not the published one';
  const OTHER_REACT = /It was built for react \^20\.0\.0; this shell has 19\./;

  const breaks: [string, string, (route: Route) => unknown, string][] = [
    ['is missing', '*', (route) => route.fulfill({ status: 404 }), 'Its manifest could not be loaded'],
    ['can’t be reached', '*.js', (route) => route.abort(), 'Its code could not be loaded'],
    [
      'is not JavaScript',
      'remoteEntry.js',
      (route) => route.fulfill({ body: '<html>', contentType: 'text/javascript' }),
      'Its code',
    ],
    ['differs from the published one', '*.json', changeOnItsWay(), 'is not the published one'],
    ['has a changed remoteEntry.js', 'remoteEntry.js', changeOnItsWay(), CHANGED],
    ['has a changed slice.js', 'slice.*.js', changeOnItsWay(), CHANGED],
  ];

  /** The row of mfe-loans in About. */
  async function aboutLoans(page: Page) {
    await page.getByRole('link', { name: 'Settings' }).click();
    const about = page.getByRole('region', { name: 'About' });
    await about.getByText('Parts of this page').click();
    return about.getByRole('row', { name: /^mfe-loans/ });
  }

  test('fails, the previous one is loaded, and About shows the reason', async ({
    page,
    pipeline,
    build,
    mkopo,
  }) => {
    test.slow();
    const requireReact20 = ({ shared }: Manifest) => {
      for (const one of shared) if (one.name === 'react') one.requiredVersion = '^20.0.0';
    };
    const other = await build('0.2.0', { manifest: requireReact20 });
    await expect(pipeline('publish', other)).rejects.toThrow(OTHER_REACT);
    await pipeline('publish', await build('0.2.0'));
    await mkopo.signIn(page, 'agent');
    for (const [what, files, handle, reason] of breaks)
      await test.step(what, async () => {
        await page.route(LIVE + files, handle);
        await page.goto('/');
        await expect(dashboard(page, OLD)).toBeVisible();
        const row = await aboutLoans(page);
        await expect(row).toContainText('Previous version: 0.2.0 could not be loaded');
        await expect(row).toContainText(reason);
        await page.unroute(LIVE + files);
        await page.evaluate(forgetRefusals);
      });

    await test.step('needs a library version that a later shell does not have', async () => {
      const manifest = await readFile(join(other, 'mf-manifest.json'), 'utf8');
      await page.route(`${LIVE}mf-manifest.json`, (route) =>
        route.fulfill({ contentType: 'application/json', body: manifest }),
      );
      await page.route('**/slices.json', async (route) => {
        const response = await route.fetch();
        const list = (await response.json()) as { slices: Record<string, { integrity: string }> };
        list.slices['mfe-loans']!.integrity = integrityOf(manifest);
        await route.fulfill({ response, json: list });
      });
      await page.goto('/');
      await expect(dashboard(page, OLD)).toBeVisible();
      await expect(await aboutLoans(page)).toContainText(OTHER_REACT);
    });
  });

  test('has a screen whose script or style was changed, a panel is shown and Retry loads the previous one', async ({
    page,
    pipeline,
    build,
    mkopo,
  }) => {
    await pipeline('publish', await build('0.2.0'));
    await mkopo.signIn(page, 'agent');
    for (const files of ['pending-loans.*.js', 'pending-loans.*.css'])
      await test.step(files, async () => {
        await page.route(LIVE + files, changeOnItsWay());
        await page.goto('/');
        await expect(dashboard(page, NEW)).toBeVisible();
        await page.getByRole('link', { name: 'Pending Loans' }).click();
        const screen = page.getByRole('main');
        await expect(screen.getByText(CHANGED)).toBeVisible();
        await screen.getByRole('button', { name: 'Retry' }).click();
        await expect(heading(page, OLD)).toBeVisible();
        await expect(await aboutLoans(page)).toContainText(
          `Previous version: 0.2.0 could not be loaded: ${CHANGED}`,
        );
        await page.unroute(LIVE + files);
        await page.evaluate(forgetRefusals);
      });
  });

  test('does not respond, it times out and the previous one is loaded', async ({ page, pipeline, build }) => {
    await pipeline('publish', await build('0.2.0'));
    await page.clock.install();
    await page.route(`${LIVE}remoteEntry.js`, () => undefined);
    await page.addInitScript(storeSession);
    await page.route('**/api/v1/**', (route) => route.fulfill({ status: 503, json: {} }));
    const asked = page.waitForRequest(`${LIVE}remoteEntry.js`);
    await page.goto('/settings');
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await asked;
    // Three attempts of ten seconds each, and the pauses between them.
    await expect(async () => {
      await page.clock.fastForward('00:11');
      await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible({ timeout: 500 });
    }).toPass();
  });

  test('fails and so does the previous one, a panel is shown and the rest works', async ({
    page,
    pipeline,
    build,
  }) => {
    await pipeline('publish', await build('0.2.0'));
    await page.route('**/slices/mfe-loans/**', (route) => route.fulfill({ status: 500 }));
    await page.goto('/login');
    await signInHere(page);
    await expect(page.getByText('mfe-loans 0.2.0')).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Transactions' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
    await page.unroute('**/slices/mfe-loans/**');
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await expect(dashboard(page, NEW)).toBeVisible();
  });
});

const CORS = { 'access-control-allow-origin': '*' };

test.describe('?slice=', () => {
  test.use({ expectedError: /./ });

  test('loads a build that is not live in this tab until it is ended, and names one that does not exist', async ({
    page,
    pipeline,
    build,
    host,
    mkopo,
  }) => {
    const notice = page.getByText('Not the live build: mfe-loans');
    const panel = page.getByRole('dialog', { name: 'Slice overrides' });
    const end = async () => {
      await panel.getByRole('button', { name: 'End override of mfe-loans' }).click();
      await expect(dashboard(page, OLD)).toBeVisible();
      await expect(notice).toBeHidden();
    };
    await mkopo.signIn(page, 'agent');

    await test.step('a developer’s build', async () => {
      const address = await host(await build('0.9.0'), CORS);
      await page.goto(`/?slice=mfe-loans@${address}`);
      await expect(dashboard(page, NEW)).toBeVisible();
      await expect(page).toHaveURL(/\/$/);
      await expect(notice).toBeVisible();
      await page.reload();
      await expect(dashboard(page, NEW)).toBeVisible();
      await page.getByRole('button', { name: 'Overrides' }).click();
      await expect(panel.getByRole('listitem')).toContainText(`mfe-loans${address}`);
      await expectAccessible(page);
      await end();
    });

    await test.step('a version that was never published', async () => {
      await page.goto('/?slice=mfe-loans@9.9.9');
      const screen = page.getByRole('main');
      await expect(screen.getByText('This version does not exist on the server')).toBeVisible();
      await screen.getByRole('button', { name: 'Overrides' }).click();
      await end();
    });

    await test.step('one that is published and held back', async () => {
      expect(await pipeline('publish', await build('0.2.0'), '--hold')).toBe(
        'mfe-loans 0.2.0 is published; 0.1.0 is live.',
      );
      await page.goto('/');
      await expect(dashboard(page, OLD)).toBeVisible();
      await page.goto('/?slice=mfe-loans@0.2.0');
      await expect(dashboard(page, NEW)).toBeVisible();
    });
  });
});

test('a static portal loads a slice from another origin', async ({ page, build, host }) => {
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-static-'));
  const slice = await host(await build('0.4.0'), CORS);
  const portal = join(root, 'tools/portal/assemble.mjs');
  await run(process.execPath, [portal, '--out', folder, '--at', `mfe-loans=${slice}/mf-manifest.json`]);
  const policy = await readFile(join(folder, 'csp.txt'), 'utf8');
  const address = await host(folder, { 'content-security-policy': policy });
  await page.addInitScript(storeSession);
  await page.route('**/api/v1/**', (route) => route.fulfill({ json: [] }));
  await page.goto(address);
  await expect(dashboard(page, NEW)).toBeVisible();
  await page.getByRole('link', { name: 'Transactions' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
  await rm(folder, { recursive: true, force: true });
});

/** Code in place of the title of the dashboard's table: the dashboard crashes while it is drawn. */
const CRASHES = '"+(()=>{throw new Error("broken by this build")})()+"';

/** Opens an address again and again; each time is a page of its own. Pages send reports when left. */
async function openPages(page: Page, path: string, seen: Locator, times: number) {
  for (let n = 0; n < times; n += 1) {
    await page.goto(path);
    await expect(seen).toBeVisible();
  }
  await page.goto('about:blank');
}

test.describe('a build that crashes', () => {
  test.use({ expectedError: /broken by this build/ });

  test('is taken back while pages are open, which are offered Reload', async ({
    page,
    browser,
    pipeline,
    build,
    mkopo,
  }) => {
    test.setTimeout(180_000);
    await page.clock.install();
    await mkopo.signIn(page, 'agent');
    const pending = heading(page, OLD);

    await test.step('the new build works on the page that is open, and its dashboard crashes', async () => {
      expect(await pipeline('publish', await build('0.2.0', { title: CRASHES }))).toBe(
        'mfe-loans 0.2.0 is published; it is live.',
      );
      await page.goto('/pending-loans');
      await expect(pending).toBeVisible();
      await Promise.all(
        (['one', 'two', 'three', 'four', 'five'] as const).map(async (name) => {
          const { email } = await mkopo.staff.open({ email: `${name}@mkopo.test` });
          const context = await browser.newContext({ baseURL: mkopo.url });
          const other = await context.newPage();
          const { token } = await mkopo.sessions.open(email);
          await other.addInitScript((token) => {
            localStorage.setItem('auth_token', token);
            localStorage.setItem('user', JSON.stringify({ id: 1, username: 'Achieng', role: 'agent' }));
          }, token);
          await openPages(other, '/pending-loans', heading(other, OLD), 1);
          // The others may have seen enough for the build to be taken back already.
          const crashed = heading(other, 'This page has stopped working');
          await openPages(other, '/', crashed.or(dashboard(other, OLD)), 1);
          await context.close();
        }),
      );
    });

    await test.step('it is taken back, and the open page offers the build before', async () => {
      await expect.poll(() => pipeline('list'), { timeout: 15_000 }).toMatch(/mfe-loans\t0\.1\.0\tlive/);
      await waitAMinute(page);
      await expect(page.getByText('A new version is available')).toBeVisible();
      await expect(pending).toBeVisible();
      await page.getByRole('button', { name: 'Reload' }).click();
      await page.goto('/');
      await expect(dashboard(page, OLD)).toBeVisible();
    });

    await test.step('the console says why, and shows what pages reported', async () => {
      const slices = `${mkopo.consoleUrl}/slices`;
      await page.goto(`${slices}?token=${mkopo.token}`);
      await page.goto(slices);
      await expect(page.getByText(/taken back by itself when at least 5 signed-in people/)).toBeVisible();
      await expect(page.getByText(/rolled back: 5 people saw it fail, in 5 of 1\d pages/)).toBeVisible();
      // A chart, unless all of it was in the same minute.
      const chart = page.getByRole('img', { name: /^Loads of mfe-loans, last hour/ });
      const sentence = page.getByText(/^All at \d\d:\d\d: \d+ loads?, \d+ failed\.$/).first();
      await expect(chart.or(sentence).first()).toBeVisible();
      await expectAccessible(page);
    });
  });
});
