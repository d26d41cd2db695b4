/* global document, requestAnimationFrame */
/**
 * Measures the history with 100,000 records in Chromium: the time from a keystroke to its rows on the
 * screen, from a click on a page to its rows, and the memory that paging uses. Prints the figures, and
 * exits with 1 if one is over its budget.
 *
 *   node tools/benchmarks/transaction-history.mjs [address of a running portal]
 *
 * Without an address it starts the server itself (MKOPO_BINARY, else the release build, else the
 * debug one). The records are generated and the same in every run; RECORDS= sets their number.
 */
import { createServer } from 'node:http';
import { chromium } from '@playwright/test';
import { handOver } from './figures.mjs';
import { browserOptions } from '../machine/browser.mjs';
import { signIn, startServer } from './portal.mjs';

const KEYSTROKE_BUDGET_MS = 50;
const PAGE_TURN_BUDGET_MS = 50;
/** Limit for the growth of the heap over all page turns; a leak of each page's rows would exceed it. */
const HEAP_BUDGET_MB = 2;
const PAGE_TURNS = 300;
/** An id, a loan, a receipt, a performer, and a text without matches. */
const SEARCHES = ['pay-0421', 'ln-2026-004', 'uk7q', 'achieng o', 'xyzzy'];

const records = recordsOf(Number(process.env.RECORDS ?? 100_000));
const stops = [];
const results = [];
try {
  const page = await openHistory(process.argv[2] ?? (await startServer(stops)));
  for (const size of [7, 100]) {
    if (size !== 7) await choosePageSize(page, size);
    const rows = `${size} rows a page`;
    results.push({
      what: `first key, ${rows}`,
      budget: KEYSTROKE_BUDGET_MS,
      values: await timeKeys(page, ['u']),
    });
    results.push({
      what: `key, ${rows}`,
      budget: KEYSTROKE_BUDGET_MS,
      values: await timeKeys(page, SEARCHES),
    });
    results.push({
      what: `page turn, ${rows}`,
      budget: PAGE_TURN_BUDGET_MS,
      ...(await cpuOf(page, () => timePageTurns(page, 50))),
    });
  }
  results.push({
    what: `heap's growth, ${PAGE_TURNS} page turns`,
    unit: 'MB',
    budget: HEAP_BUDGET_MB,
    values: [await heapGrowth(page)],
  });
} finally {
  for (const stop of stops.reverse()) await stop();
}
report(results);

/** Signs in, and opens the history with the generated records in place of the server's. */
async function openHistory(address) {
  const page = await startBrowser();
  await signIn(page, address);
  const body = Buffer.from(JSON.stringify(records));
  const url = await serve(body);
  await page.route('**/api/v1/disbursement-records', (route) => route.continue({ url }));
  const started = performance.now();
  await page.goto(`${address}/transactions`);
  await page.getByText(`${records.length} transaction(s) found`).waitFor({ timeout: 60_000 });
  console.log(
    `${records.length} records, ${megabytes(body.length)} MB of JSON: on the screen after ${seconds(performance.now() - started)} s`,
  );
  await page.evaluate(watchInPage);
  return page;
}

/** One measurement for each keystroke that changes the result. */
async function timeKeys(page, searches) {
  const times = [];
  for (const search of searches) {
    let before = records.length;
    await page.getByRole('searchbox', { name: 'Search transactions' }).focus();
    for (let length = 1; length <= search.length; length += 1) {
      const found = countOf(search.slice(0, length));
      const time = await timeUntilShown(page, 'keydown', `${found} transaction(s) found`, () =>
        page.keyboard.press(search[length - 1]),
      );
      if (found !== before) times.push(time);
      before = found;
    }
    await page.getByRole('searchbox').fill('');
    await page.getByText(`${records.length} transaction(s) found`).waitFor();
  }
  return times;
}

async function timePageTurns(page, turns) {
  const times = [];
  const steps = ['Next page', 'Next page', 'Last page', 'Previous page', 'First page'];
  const size = Number((await page.getByText(/ \/ page$/).textContent()).split(' ')[0]);
  const last = Math.ceil(records.length / size);
  let current = 1;
  for (let turn = 0; turn < turns; turn += 1) {
    const step = steps[turn % steps.length];
    current = { 'Next page': current + 1, 'Previous page': current - 1, 'First page': 1, 'Last page': last }[
      step
    ];
    const to = Math.min(current * size, records.length);
    const range = `Showing ${(current - 1) * size + 1} to ${to} of ${records.length} results`;
    times.push(
      await timeUntilShown(page, 'click', range, () => page.getByRole('button', { name: step }).click()),
    );
  }
  return times;
}

/** The main thread's CPU time in ms, which other programs on the machine do not affect. */
async function cpuOf(page, act) {
  const client = await page.context().newCDPSession(page);
  const busy = async () => {
    const { metrics } = await client.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  };
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await busy();
  const values = await act();
  const cpu = ((await busy()) - before) / values.length;
  await client.detach();
  return { values, cpu };
}

async function heapGrowth(page) {
  const client = await page.context().newCDPSession(page);
  const heapUsed = async () => {
    await client.send('HeapProfiler.collectGarbage');
    return (await client.send('Runtime.getHeapUsage')).usedSize;
  };
  await timePageTurns(page, 20);
  const before = await heapUsed();
  await timePageTurns(page, PAGE_TURNS);
  const after = await heapUsed();
  console.log(`heap: ${megabytes(before)} MB before ${PAGE_TURNS} page turns, ${megabytes(after)} MB after`);
  return (after - before) / 1e6;
}

async function choosePageSize(page, size) {
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: `${size} / page` }).click();
  await page.getByText(`Showing 1 to ${size} of`).waitFor();
}

/** The time in ms from an event in the page until the frame with a text is painted. */
async function timeUntilShown(page, kind, text, act) {
  await page.evaluate(([event, expected]) => globalThis.watchFor(event, expected), [kind, text]);
  await act();
  return page.evaluate(() => globalThis.shown);
}

/** Runs in the page: starts the measurement at the next event of this type. */
function watchInPage() {
  globalThis.watchFor = (kind, text) => {
    globalThis.shown = new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(`no '${text}' after a ${kind}`)), 10_000);
      document.addEventListener(
        kind,
        ({ timeStamp }) => {
          const look = () => {
            if (!document.querySelector('main').textContent.includes(text)) {
              requestAnimationFrame(look);
              return;
            }
            // A message posted while a frame is rendered arrives after it is painted.
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => {
              clearTimeout(patience);
              resolve(performance.now() - timeStamp);
            };
            port2.postMessage(undefined);
          };
          requestAnimationFrame(look);
        },
        { capture: true, once: true },
      );
    });
  };
}

async function startBrowser() {
  const browser = await chromium.launch(browserOptions());
  stops.push(() => browser.close());
  const context = await browser.newContext({
    locale: 'en-KE',
    timezoneId: 'Africa/Nairobi',
    viewport: { width: 1280, height: 860 },
    // Smooth scrolling lasts longer than a page turn, and would be measured with the next one.
    reducedMotion: 'reduce',
  });
  return context.newPage();
}

/** Serves the records on a free port, because they are too large for Playwright's own routing. */
async function serve(body) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Records as the server sends them, newest first, made from a fixed seed. */
function recordsOf(count) {
  let seed = 20_261_114;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const oneOf = (choices) => choices[Math.floor(random() * choices.length)];
  const digits = (length) => String(Math.floor(random() * 10 ** length)).padStart(length, '0');
  const receipt = () =>
    `UK${Array.from({ length: 8 }, () => oneOf('0123456789ABCDEFGHJKLMNPQRSTUVW')).join('')}`;
  const first = ['Wanjiku', 'Brian', 'Fatuma', 'Kevin', 'Mercy', 'Omondi', 'Naliaka', 'Zainab'];
  const last = ['Kamau', 'Kiptoo', 'Hassan', 'Mwangi', 'Chebet', 'Odhiambo', 'Wafula', 'Ali'];
  const performers = [
    ['USR-3', 'Achieng', 'Otieno'],
    ['USR-4', 'Wanjiru', 'Maina'],
    ['USR-5', 'Peter', 'Njoroge'],
  ];
  const newest = Date.parse('2026-11-14T09:30:00.000Z');

  return Array.from({ length: count }, (_, index) => {
    const status = random() < 0.9 ? 'COMPLETED' : oneOf(['FAILED', 'PENDING']);
    const created = new Date(newest - index * 300_000).toISOString();
    const phone = `+2547${digits(8)}`;
    const [user, userFirst, userLast] = oneOf(performers);
    return {
      id: `PAY-${String(count - index).padStart(7, '0')}`,
      loan_id: `LN-2026-${String(count - index).padStart(7, '0')}`,
      amount: 500 * (1 + Math.floor(random() * 300)),
      status,
      created_at: created,
      mpesa_ref: status === 'COMPLETED' ? receipt() : null,
      transaction_id: `019a8123-${digits(4)}-7${digits(3)}-8${digits(3)}-${digits(12)}`,
      phone,
      error_message: status === 'FAILED' ? 'The balance is insufficient for the transaction.' : null,
      processed_at: status === 'PENDING' ? null : created,
      user_id: user,
      user_first_name: userFirst,
      user_last_name: userLast,
      user_email: 'agent@mkopo.test',
      customer_id: `CUS-${digits(5)}`,
      customer_first_name: oneOf(first),
      customer_last_name: oneOf(last),
      customer_id_number: digits(8),
      customer_phone_number: phone,
      approver_id: 'USR-2',
      approver_name: 'Achieng Otieno',
      approver_email: 'supervisor@mkopo.test',
    };
  });
}

/** The expected number of results; computed here, independently of the portal's code. */
function countOf(search) {
  const isIn = (value) => value !== null && value.toLowerCase().includes(search);
  return records.filter(
    ({ id, loan_id, mpesa_ref, user_first_name, user_last_name }) =>
      isIn(id) || isIn(loan_id) || isIn(mpesa_ref) || isIn(`${user_first_name} ${user_last_name}`),
  ).length;
}

function report(all) {
  handOver({
    bench: 'transaction-history',
    title: 'The history in the browser',
    how: `Chromium on the same machine shows ${records.length} records, generated in place of the server’s. From a key or a click until the frame with its result is painted; processor time is that of the page’s main thread for each. A *first key* is the first after the page has been opened or its size changed.`,
    tables: [
      {
        title: `${records.length} records`,
        figures: all.flatMap(({ what, unit = 'ms', budget, values, cpu }) => [
          { what, unit, values, target: `≤ ${budget}` },
          ...(cpu ? [{ what: `${what}: processor time`, unit: 'ms', values: [cpu] }] : []),
        ]),
      },
    ],
  });
  console.log(
    `\n${'what'.padEnd(34)}${['n', 'cpu', 'median', 'p95', 'max', 'budget'].map((head) => head.padStart(9)).join('')}`,
  );
  for (const { what, unit = 'ms', budget, values, cpu } of all) {
    const sorted = [...values].sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);
    const isOver = Number(at(0.5)) > budget;
    if (isOver) process.exitCode = 1;
    const figures = [sorted.length, cpu?.toFixed(1) ?? '', at(0.5), at(0.95), at(1), budget];
    console.log(
      `${what.padEnd(34)}${figures.map((figure) => String(figure).padStart(9)).join('')} ${unit}${isOver ? '  OVER' : ''}`,
    );
  }
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}

function seconds(ms) {
  return (ms / 1000).toFixed(1);
}
