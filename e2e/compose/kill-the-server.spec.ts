import { expect, test } from '@playwright/test';
import { compose, containers, healthy, payThrough } from './stack';

/** Kills the process as a crash does; the container engine has to notice it. */
const CRASH = `for process in /proc/[0-9]*; do
    [[ $(readlink "$process/exe") != */mkopo ]] || kill -KILL "\${process#/proc/}"
  done`;

test('the server is killed during payouts: it restarts, and each loan is paid once', async () => {
  const restarts = async () =>
    (await containers()).find(({ service }) => service === 'server')?.RestartCount ?? 0;
  const before = await restarts();
  const { unanswered } = await payThrough(200, async () => {
    await compose('exec', '-T', 'server', 'bash', '-c', CRASH).catch(() => undefined); // It may go with it.
    await healthy('server');
  });
  expect(unanswered, 'calls that were cut').toBeGreaterThan(0);
  expect(await restarts()).toBe(before + 1);
});

test('the server’s container is killed and started again: each loan is paid once', async () => {
  const { unanswered } = await payThrough(200, async () => {
    await compose('kill', 'server');
    await compose('start', 'server');
    await healthy('server');
  });
  expect(unanswered, 'calls that were cut').toBeGreaterThan(0);
});
