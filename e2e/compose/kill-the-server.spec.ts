import { expect, test } from '@playwright/test';
import { compose, containers, crash, healthy, payThrough } from './stack';

test('the server is killed during payouts: it restarts, and each loan is paid once', async () => {
  const restarts = async () =>
    (await containers()).find(({ service }) => service === 'server')?.RestartCount ?? 0;
  const before = await restarts();
  const { unanswered } = await payThrough(200, async () => {
    await crash('server', 'mkopo');
    await healthy('server');
  });
  expect(unanswered, 'calls that were cut').not.toEqual([]);
  expect(await restarts()).toBe(before + 1);
});

test('the server’s container is killed and started again: each loan is paid once', async () => {
  const { unanswered } = await payThrough(200, async () => {
    await compose('kill', 'server');
    await compose('start', 'server');
    await healthy('server');
  });
  expect(unanswered, 'calls that were cut').not.toEqual([]);
});
