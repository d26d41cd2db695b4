/**
 * Times how soon a saved change runs with `make dev`, in a temporary clone: from the save until the server has
 * restarted, or until the open page shows it. Builds everything once before, with the caches of this machine.
 *
 *   node tools/benchmarks/next-change.mjs
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { browserOptions } from '../machine/browser.mjs';
import { freePorts } from '../machine/ports.mjs';
import { Clone } from './clone.mjs';
import { handOver, show } from './figures.mjs';
import { signIn } from './portal.mjs';

const TURNS = 5;
const TITLE = 'Pending Disbursements';

/** One text each, and what stands in its place in a turn. For what a page shows: its title then. */
const CHANGES = [
  {
    what: 'a screen',
    file: 'mfe-loans/src/pending-loans/PendingLoansPage.tsx',
    line: 'title={texts.pendingDisbursements} subtitle', // while the list loads, and after it
    changed: (turn) => `title="Loans, ${turn}" subtitle`,
    title: (turn) => `Loans, ${turn}`,
  },
  {
    what: 'a part of the kit',
    file: 'mfe-kit/src/ui/PageHeader.tsx',
    line: '<h1>{title}</h1>',
    changed: (turn) => `<h1>{title}, ${turn}</h1>`,
    title: (turn) => `${TITLE}, ${turn}`,
  },
  {
    what: 'a page of the console',
    file: 'server/crates/console/src/faults/page.rs',
    line: '"No faults"',
    changed: (turn) => `"No faults, ${turn}"`,
  },
  {
    what: 'an act',
    file: 'server/crates/lending/src/payouts/disburse.rs',
    line: '"payout.left_pending"',
    changed: (turn) => `"payout.left_pending_${turn}"`,
  },
];

await Clone.with(async (clone) => {
  const port = await freePorts(3);
  clone.start('make dev', { ...Clone.environment(), PORT: String(port) });
  await clone.time(async () => (await clone.said()).includes('The portal as you edit it'));
  const browser = await chromium.launch(browserOptions());
  const page = await browser.newPage();
  await signIn(page, `http://localhost:${port}`);
  await page.getByRole('link', { name: 'Pending Loans' }).click();
  const heading = (name) => page.getByRole('heading', { level: 1, name, exact: true });
  await heading(TITLE).waitFor();

  const figures = [];
  for (const change of CHANGES) {
    const isDone = change.title
      ? (turn) => heading(turn > TURNS ? TITLE : change.title(turn)).isVisible()
      : await restartOf(clone);
    const values = await timeSaves(clone, change, isDone);
    figures.push({ what: change.what, unit: 's', values });
  }
  await page.reload();
  await heading(TITLE).waitFor(); // It is still signed in.
  await browser.close();

  const how =
    'One line is saved while `make dev` runs and a page is open, signed in: seconds until the page shows it, or until ' +
    'the server has restarted; session and data stay. In a clone in which everything was built before.';
  const tables = [{ title: 'From a save to a running portal', figures }];
  show(tables);
  handOver({ bench: 'next-change', title: 'The next change', how, tables });
});

/** The seconds of each turn, after one that does not count. In the end, the file is as it was. */
async function timeSaves(clone, { file, line, changed }, isDone) {
  const path = join(clone.folder, file);
  const source = await readFile(path, 'utf8');
  if (!source.includes(line)) throw new Error(`there is no ${line} in ${file}`);
  const seconds = [];
  for (let turn = 0; turn <= TURNS + 1; turn += 1) {
    await writeFile(path, turn > TURNS ? source : source.replaceAll(line, changed(turn)));
    seconds.push(await clone.time(() => isDone(turn), { within: 120, of: `a save of ${file}` }));
  }
  return seconds.slice(1, -1);
}

/** Tells whether the server has restarted after a turn, as it does once in each. */
async function restartOf(clone) {
  const restarts = async () => (await clone.said()).split('The server is restarted').length;
  const before = await restarts();
  return async (turn) => (await restarts()) > before + turn;
}
