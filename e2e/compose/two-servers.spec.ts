import { expect, test } from '../test';
import { address, compose, consoleCall, containers, crash, healthy, payThrough } from './stack';

const answeredBy = async (service: string) =>
  (await compose('logs', '--no-log-prefix', service))
    .split('\n')
    .filter((line) => line.includes('/disburse') && line.includes('"method":"POST"')).length;

test('one of two servers is killed during payouts: the other continues, and each loan is paid once', async () => {
  const { unanswered } = await payThrough(200, async () => {
    await compose('kill', 'server-2');
  });
  const killed = (await containers()).find(({ service }) => service === 'server-2');
  expect(killed?.State.Status).toBe('exited');
  expect(unanswered, 'calls that were cut').not.toEqual([]);
  for (const service of ['server', 'server-2'])
    expect(await answeredBy(service), `payouts that ${service} made`).toBeGreaterThan(0);
  await compose('start', 'server-2');
  await healthy('server-2');
});

test('the balancer is killed during payouts: it restarts, and each loan is paid once', async () => {
  const { unanswered } = await payThrough(200, async () => {
    await crash('balancer', 'haproxy');
    await healthy('balancer');
  });
  expect(unanswered, 'calls that were cut').not.toEqual([]);
});

test('sessions and lists are the same on both servers', async ({ page, mkopo }) => {
  await mkopo.signIn(page, 'agent');
  for (let round = 0; round < 6; round++) {
    await page.goto('/');
    await expect(page.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
    await page.getByRole('link', { name: 'Pending Loans' }).click();
    await expect(page.getByText('24 loan(s) pending disbursement')).toBeVisible();
  }
});

test('a link to a story opens at once: the server that has the sandboxes gets the call', async () => {
  const { url } = await consoleCall<{ url: string }>('POST', '/story-links', { story: 'lost-answer' });
  for (let round = 0; round < 6; round++)
    expect((await fetch(`${address}${new URL(url).pathname}`)).status).toBe(200);
});
