import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyTemplate, wordsOf } from '../build/new-slice-files.mjs';
import { portalAt } from './portal.mjs';
import { Refusal } from './refusal.mjs';

const kitFolder = join(import.meta.dirname, '..');

/** Makes a slice in the working directory, built with the kit that runs this. */
export async function run(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { portal: { type: 'string' } },
  });
  const [given = ''] = positionals;
  const names = wordsOf(given);
  if (!names)
    throw new Refusal(
      `'${given}' is not a slice's name: give one such as repayments, of lower-case letters, digits and dashes.`,
    );
  const folder = process.cwd();
  const found = (await readdir(folder)).filter((file) => file !== '.git');
  if (found.length > 0) throw new Refusal(`${folder} is not empty: make the slice in an empty folder.`);
  const address = addressOfKit();
  if (!address && !values.portal)
    throw new Refusal('say which portal with --portal: this kit was not installed from one.');
  const portal = portalAt(values.portal ?? address);

  await copyTemplate(folder, names);
  await writePackage(folder, portal, address ?? `${portal}/kit/mfe-kit-${kitPackage().version}.tgz`);
  const extended = { extends: 'mfe-kit/tsconfig.json', include: ['src', 'vitest.config.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), `${JSON.stringify(extended, null, 2)}\n`);
  await writeFile(join(folder, '.gitignore'), 'node_modules/\ndist/\n');
  console.log(`${names.package} is here. Next: npm install, then npm run dev`);
}

/** The address that npm installed this kit from. */
function addressOfKit() {
  const lock = join(dirname(kitFolder), '.package-lock.json');
  if (!existsSync(lock)) return undefined;
  const { resolved } = JSON.parse(readFileSync(lock, 'utf8')).packages['node_modules/mfe-kit'] ?? {};
  return /^https?:/.test(resolved ?? '') ? resolved : undefined;
}

async function writePackage(folder, portal, kit) {
  const file = join(folder, 'package.json');
  const { slice, peerDependencies, ...own } = JSON.parse(await readFile(file, 'utf8'));
  const { dependencies } = kitPackage();
  // The libraries shared with the shell, too: a newer version beside the kit's has other types.
  const shared = Object.keys(peerDependencies).filter((name) => name in dependencies);
  const tools = [...shared, '@types/react', 'typescript', 'vitest'].map((name) => [name, dependencies[name]]);
  const content = {
    ...own,
    scripts: {
      build: 'mfe-kit build',
      check: 'mfe-kit check',
      dev: 'mfe-kit dev',
      publish: 'mfe-kit publish',
      test: 'vitest run',
      typecheck: 'tsc',
    },
    slice: { portal, ...slice },
    peerDependencies,
    devDependencies: Object.fromEntries([...tools, ['mfe-kit', kit]].sort()),
  };
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

function kitPackage() {
  return JSON.parse(readFileSync(join(kitFolder, 'package.json'), 'utf8'));
}
