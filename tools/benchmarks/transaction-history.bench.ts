import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import type { Mkopo } from 'mkopo-test';
import { expect, test } from '../../e2e/test';
import { handOver } from './figures.mjs';

const RECORDS = 100_000;
/** An id, a loan, a receipt, a performer, and a text without matches. */
const SEARCHES = ['pay-0421', 'ln-2026-004', 'uk7q', 'achieng o', 'xyzzy'];
const TURNS = ['Next page', 'Next page', 'Last page', 'Previous page', 'First page'];
const PAGE_TURNS = 300;

test(`the history with ${RECORDS} records: keys, page turns and memory`, async ({ page, mkopo }) => {
  const records = await recordsLikeThoseOf(mkopo);
  await mkopo.signIn(page, 'agent');
  await openHistory(page, records);

  const figures = [];
  for (const size of [7, 100]) {
    if (size !== 7) await choosePageSize(page, size);
    const add = (what: string, values: number[]) =>
      figures.push({ what: `${what}, ${size} rows a page`, unit: 'ms', values, target: '≤ 50' });
    add('first key', await timeKeys(page, ['u'], records));
    add('key', await timeKeys(page, SEARCHES, records));
    add('page turn', await timePageTurns(page, 50, size));
  }
  figures.push({
    what: `heap's growth, ${PAGE_TURNS} page turns`,
    unit: 'MB',
    values: [await heapGrowth(page)],
    target: '≤ 2',
  });
  handOver({
    bench: 'transaction-history',
    title: 'The history in the browser',
    how: `Chromium on the same machine shows ${RECORDS} records, generated in place of the server’s. From a key or a click until the frame with its result is painted. A *first key* is the first after the page has been opened or its size changed.`,
    tables: [{ title: `${RECORDS} records`, figures }],
  });
});

type Records = Awaited<ReturnType<typeof recordsLikeThoseOf>>;

/** Newest first. */
async function recordsLikeThoseOf(mkopo: Mkopo) {
  const samples = await (await mkopo.sessions.open('agent')).history();
  return Array.from({ length: RECORDS }, (_, index) => {
    const sample = samples[index % samples.length]!;
    const number = String(RECORDS - index).padStart(7, '0');
    const receipt = ((index * 48_271) % 2_147_483_647).toString(36).padStart(8, '0').toUpperCase();
    return {
      ...sample,
      id: `PAY-${number}`,
      loan_id: `LN-2026-${number}`,
      mpesa_ref: sample.mpesa_ref && `UK${receipt}`,
      created_at: new Date(Date.UTC(2026, 10, 14) - index * 300_000).toISOString(),
    };
  });
}

async function openHistory(page: Page, records: Records) {
  // From a server of its own: they are too large for Playwright's own routing.
  const body = JSON.stringify(records);
  const server = createServer((_request, response) =>
    response.setHeader('Content-Type', 'application/json').end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await page.route('**/api/v1/disbursement-records', (route) => route.continue({ url }));
  await page.getByRole('link', { name: 'Transactions' }).click();
  await expect(page.getByText(`${RECORDS} transaction(s) found`)).toBeVisible({ timeout: 60_000 });
}

/** One measurement for each key that changes the result. */
async function timeKeys(page: Page, texts: string[], records: Records) {
  const box = page.getByRole('searchbox', { name: 'Search transactions' });
  const times: number[] = [];
  for (const text of texts) {
    await box.focus();
    let before = RECORDS;
    for (let length = 1; length <= text.length; length += 1) {
      const found = countOf(text.slice(0, length), records);
      const time = await timeUntilShown(page, 'keydown', `${found} transaction(s) found`, () =>
        page.keyboard.press(text[length - 1]!),
      );
      if (found !== before) times.push(time);
      before = found;
    }
    await box.fill('');
    await expect(page.getByText(`${RECORDS} transaction(s) found`)).toBeVisible();
  }
  return times;
}

/** The expected number of results; computed here, independently of the portal's code. */
function countOf(search: string, records: Records) {
  return records.filter(({ id, loan_id, mpesa_ref, user_first_name, user_last_name }) =>
    [id, loan_id, mpesa_ref, `${user_first_name} ${user_last_name}`].some((value) =>
      value?.toLowerCase().includes(search),
    ),
  ).length;
}

async function timePageTurns(page: Page, turns: number, size: number) {
  const last = Math.ceil(RECORDS / size);
  const shown = [2, 3, last, last - 1, 1];
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const current = shown[turn % shown.length]!;
    const to = Math.min(current * size, RECORDS);
    const range = `Showing ${(current - 1) * size + 1} to ${to} of ${RECORDS} results`;
    times.push(await timeUntilShown(page, 'click', range, () => turnPage(page, turn)));
  }
  return times;
}

function turnPage(page: Page, turn: number) {
  return page.getByRole('button', { name: TURNS[turn % TURNS.length]! }).click();
}

async function choosePageSize(page: Page, size: number) {
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: `${size} / page` }).click();
  await expect(page.getByText(`Showing 1 to ${size} of`)).toBeVisible();
}

/** In MB; a leak of each page's rows would exceed the target. */
async function heapGrowth(page: Page) {
  const client = await page.context().newCDPSession(page);
  const usedAfter = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await turnPage(page, turn);
    await client.send('HeapProfiler.collectGarbage');
    return (await client.send('Runtime.getHeapUsage')).usedSize;
  };
  const before = await usedAfter(20);
  return ((await usedAfter(PAGE_TURNS)) - before) / 1e6;
}

/** The time in ms from the next event of a kind until the frame with a text is painted. */
async function timeUntilShown(page: Page, kind: string, text: string, act: () => Promise<void>) {
  const shown = await page.evaluateHandle(
    ([kind, text]) => {
      const event = new Promise<Event>((resolve) =>
        document.addEventListener(kind!, resolve, { capture: true, once: true }),
      );
      const shown = event.then(async ({ timeStamp }) => {
        do await new Promise(requestAnimationFrame);
        while (!document.querySelector('main')!.textContent.includes(text!));
        // A message posted while a frame is rendered arrives after it is painted.
        const { port1, port2 } = new MessageChannel();
        const painted = new Promise((resolve) => (port1.onmessage = resolve));
        port2.postMessage(undefined);
        await painted;
        return performance.now() - timeStamp;
      });
      return { shown };
    },
    [kind, text],
  );
  await act();
  return shown.evaluate(({ shown }) => shown);
}
