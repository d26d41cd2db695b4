import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from '@playwright/test';
import { test } from 'mkopo-test';
import { browserOptions } from '../machine/browser.mjs';
import { freePorts } from '../machine/ports.mjs';
import { handOver } from './figures.mjs';

const LIGHTHOUSE = 'lighthouse@12.8.2';
/** Bytes of the headers of an answer. */
const LONGEST_HEADERS = 1000;
const ROUNDS = Number(process.env.MKOPO_BENCH_ROUNDS ?? 5);

test.use({ sandboxPer: 'none' });

test('Lighthouse loads the sign-in page and the dashboard', async ({ mkopo }, testInfo) => {
  const lighthouse = await downloadLighthouse();
  const port = await freePorts();
  const browser = await chromium.launchPersistentContext(
    testInfo.outputPath('browser'),
    browserOptions(`--remote-debugging-port=${port}`),
  );
  // In turns of its mobile preset, each with an empty cache.
  const load = async (path: string) => {
    const results = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { lhr } = await lighthouse(`${mkopo.url}${path}`, { port, logLevel: 'error' });
      if (lhr.runtimeError) throw new Error(lhr.runtimeError.message);
      if (new URL(lhr.finalDisplayedUrl).pathname !== path)
        throw new Error(`${path} led to ${lhr.finalDisplayedUrl}`);
      results.push(lhr);
    }
    return results;
  };
  const login = figuresOf(await load('/login'), { score: '≥ 95', size: '≤ 200' });
  await mkopo.signIn(await browser.newPage(), 'agent');
  const dashboard = figuresOf(await load('/'), { score: '≥ 92', size: '≤ 320' });
  await browser.close();
  handOver({
    bench: 'first-page',
    title: 'The first page',
    how: `Lighthouse’s mobile preset (simulated slow 4G, a processor a quarter as fast) in the Chromium of this machine, each time with an empty cache. Kilobytes are those of the files that were transferred, after brotli, as \`npm run size\` checks them; headers come on top. Requests leave out the report that follows the load.`,
    software: [LIGHTHOUSE],
    tables: [
      { title: '`/login`', figures: login },
      { title: '`/`, signed in', figures: dashboard },
    ],
  });
});

/** What this reads of a result of Lighthouse. */
interface Result {
  runtimeError?: { message: string };
  finalDisplayedUrl: string;
  audits: Record<string, { numericValue: number; details: { items: Request[] } }>;
  categories: Record<string, { score: number }>;
}

interface Request {
  url: string;
  resourceType: string;
  transferSize: number;
}

type Lighthouse = (url: string, options: { port: number; logLevel: 'error' }) => Promise<{ lhr: Result }>;

function figuresOf(results: Result[], { score, size }: { score: string; size: string }) {
  const audit = (name: string) => results.map(({ audits }) => audits[name]!.numericValue);
  const category = (name: string) => results.map(({ categories }) => categories[name]!.score * 100);
  // A file that is fetched twice is in the cache; a report of the load is sent after it.
  const loaded = results.map(({ audits }) =>
    audits['network-requests']!.details.items.filter(
      ({ resourceType, transferSize }) => transferSize > 0 && resourceType !== 'Ping',
    ),
  );
  const code = loaded.map((items) =>
    items.filter(({ resourceType }) => ['Script', 'Stylesheet'].includes(resourceType)),
  );
  const kilobytes = (sizeOf: (request: Request) => number) =>
    code.map((items) => items.reduce((sum, item) => sum + sizeOf(item), 0) / 1000);
  return [
    { what: 'performance', unit: '', values: category('performance'), target: score },
    { what: 'accessibility', unit: '', values: category('accessibility'), target: '≥ 100' },
    { what: 'best practices', unit: '', values: category('best-practices'), target: '≥ 100' },
    {
      what: 'largest contentful paint',
      unit: 's',
      values: audit('largest-contentful-paint').map((ms) => ms / 1000),
    },
    { what: 'total blocking time', unit: 'ms', values: audit('total-blocking-time') },
    { what: 'cumulative layout shift', unit: '', values: audit('cumulative-layout-shift') },
    { what: 'JavaScript and CSS', unit: 'KB', values: kilobytes(sizeOfFile), target: size },
    { what: 'the same, with headers', unit: 'KB', values: kilobytes(({ transferSize }) => transferSize) },
    { what: 'requests', unit: '', values: loaded.map(({ length }) => length) },
  ];
}

/** The size of a file after brotli, as which it must have been sent. */
function sizeOfFile({ url, transferSize }: Request) {
  const { size } = statSync(`${process.env.MKOPO_PORTAL_DIR}${new URL(url).pathname}.br`);
  if (transferSize < size || transferSize > size + LONGEST_HEADERS)
    throw new Error(`${url} was sent in ${transferSize} bytes, of which its file has ${size}`);
  return size;
}

/** With npx, as a tool that the portal does not need. */
async function downloadLighthouse(): Promise<Lighthouse> {
  const options = ['--yes', '--prefer-offline', '--package', LIGHTHOUSE, '--call', 'echo $PATH'];
  const path = execFileSync('npx', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  // The first folder of the path is that of the package's commands.
  const modules = dirname(path.split(delimiter)[0]!);
  const module = pathToFileURL(join(modules, 'lighthouse/core/index.js')).href;
  return ((await import(module)) as { default: Lighthouse }).default;
}
