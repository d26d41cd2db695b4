import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { startPortal } from 'mkopo-test';
import { expectAccessible, inEachLook } from '../accessibility';
import { confirmPayout, openLoan } from '../acts';
import { expect, test as base } from '../test';

/** A provider of our own behind a proxy that breaks the contract: it leaves headers out. */
async function startWrongProvider() {
  const { url, stop } = await startPortal();
  const proxy = createServer((request, response) => {
    const body: Buffer[] = [];
    request.on('data', (bytes: Buffer) => body.push(bytes));
    request.on('end', () => {
      void (async () => {
        const headers = new Headers();
        for (const [name, value] of Object.entries(request.headers))
          if (!['accept-encoding', 'connection', 'host'].includes(name)) headers.set(name, String(value));
        const answer = await fetch(`${url}${request.url ?? ''}`, {
          method: request.method,
          headers,
          body: body.length > 0 ? Buffer.concat(body) : null,
        });
        const text = await answer.text();
        response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type') ?? '' });
        response.end(text);
      })();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    stop: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await stop();
    },
  };
}

const test = base.extend({
  // A portal in front of that provider, which alone knows where the money is.
  settings: async ({}, use) => {
    const provider = await startWrongProvider();
    await use({ MKOPO_DEMO: 'false', MKOPO_PROVIDER_URL: provider.address });
    await provider.stop();
  },
  checkInvariant: false,
});

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

test('the portal works on another provider, and the console lists where it breaks the contract', async ({
  page,
  mkopo,
}) => {
  await mkopo.signIn(page, 'agent');
  await openLoan(page);
  await confirmPayout(page);
  await expect(page.getByText('Disbursement Successful').first()).toBeVisible();

  const console = await page.context().newPage();
  await console.goto(`${mkopo.consoleUrl}?token=${mkopo.token}`);
  await console.getByRole('link', { name: 'Contract', exact: true }).click();
  await expect(title(console, 'Contract')).toBeVisible();
  const violations = console.getByRole('region', { name: 'Violations' });
  const rows = violations.getByRole('row', { name: /header Cache-Control/ });
  await expect(rows.first()).toContainText('Missing');
  await inEachLook(console, () => expectAccessible(console));

  await test.step('what this service would only do to itself is not offered, and says why', async () => {
    await console.goto(`${mkopo.consoleUrl}/loans`);
    await expect(console.getByText("the portal's calls are forwarded to another provider")).toBeVisible();
    await expectAccessible(console);
  });
});
