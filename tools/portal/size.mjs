/**
 * Checks the first load of three pages against its budget: the JavaScript and CSS that a browser with an
 * empty cache fetches, compressed. The files are found as a browser finds them: the page, its entry, the
 * slice's manifest and container, and the chunks of the screen's module.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './slices.mjs';

const portal = join(root, 'dist/portal');
const KB = 1000;

/** The modules that the shell adds for signed-in users. */
const SIGNED_IN = ['src/layout/MainLayout.tsx', 'mfe-kit/ui-layout', 'mfe-kit/ui-data'];

const PAGES = [
  {
    name: 'login',
    slice: 'mfe-auth',
    screen: 'src/login/LoginPage.tsx',
    shell: [],
    limit: 200 * KB,
    requests: 9,
  },
  {
    name: 'dashboard',
    slice: 'mfe-loans',
    screen: 'src/dashboard/DashboardPage.tsx',
    shell: SIGNED_IN,
    limit: 320 * KB,
    requests: 17,
  },
  {
    name: 'pending loans',
    slice: 'mfe-loans',
    screen: 'src/pending-loans/PendingLoansPage.tsx',
    shell: SIGNED_IN,
    limit: 320 * KB,
    requests: 17,
  },
];

let isOver = false;
for (const page of PAGES) {
  const files = filesOf(page);
  const over = { br: 0, gz: 0 };
  for (const file of files)
    for (const kind of ['br', 'gz']) over[kind] += statSync(`${join(portal, file)}.${kind}`).size;
  const requests = files.length + 3; // the page, slices.json and the slice's manifest
  const fits = over.br <= page.limit && requests <= page.requests;
  isOver ||= !fits;
  console.log(
    `${fits ? 'ok  ' : 'OVER'} ${page.name}: ${kb(over.br)} brotli, ${kb(over.gz)} gzip in ${requests} requests (at most ${kb(page.limit)} brotli, ${page.requests})`,
  );
  if (process.argv.includes('--files'))
    for (const file of files) console.log(`       ${kb(statSync(`${join(portal, file)}.br`).size)} ${file}`);
}
process.exitCode = isOver ? 1 : 0;

function filesOf({ slice, screen, shell }) {
  const html = readFileSync(join(portal, 'index.html'), 'utf8');
  const entry = [...html.matchAll(/(?:src|href)="\/([^"]+\.(?:js|css))"/g)].map(([, file]) => file);
  const { entry: manifest } = read('slices.json').slices[slice];
  const folder = manifest.slice(1, manifest.lastIndexOf('/'));
  return [
    ...new Set([
      ...entry,
      ...chunksOf(read('chunks.json'), shell),
      `${folder}/remoteEntry.js`,
      ...chunksOf(read(`${folder}/chunks.json`), ['src/slice.tsx', screen]).map(
        (file) => `${folder}/${file}`,
      ),
    ]),
  ];
}

/** The files that importing these modules loads. */
function chunksOf(chunks, modules) {
  return modules.flatMap((module) => {
    if (!chunks[module]) throw new Error(`The build has no chunk for ${module}`);
    return chunks[module];
  });
}

function read(file) {
  return JSON.parse(readFileSync(join(portal, file), 'utf8'));
}

function kb(bytes) {
  return `${(bytes / KB).toFixed(1)} KB`;
}
