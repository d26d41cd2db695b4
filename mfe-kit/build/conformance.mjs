/**
 * The requirements for a slice, as tests that run in its own folder: what it exposes, its screens, what
 * it shares with the shell, its size, its texts in every language, and that the shell can mount it. The slice is built first if its build
 * is older than the sources. The shell is the one of the portal that the slice is for: the running one that
 * `slice.portal` of its package.json (or `MKOPO_PORTAL`) names or, for a slice of the portal's own repository,
 * that of the repository.
 *
 * `PREVIOUS_SHELL` is the previously published shell, as the folder of its build or the address of a
 * portal that runs it; the slice is mounted in that one too.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { portalAt, readList } from '../cli/portal.mjs';
import { portalOf } from '../cli/slice-package.mjs';
import { checkCatalogues } from './catalogues.mjs';
import { problemsOf } from './slice-problems.mjs';

export { checkCatalogues };

const run = promisify(execFile);
const BUILD_MS = 240_000;

const packageOf = (path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
const kitFolder = join(import.meta.dirname, '..');
const kit = packageOf(kitFolder);
/** The running portal of a slice in a repository of its own. */
const ownPackage = existsSync('package.json') ? packageOf('.') : {};
const portal = ownPackage.slice?.portal ? portalAt(portalOf(ownPackage)) : undefined;
const { shell, others, folder: shellFolder } = portal ? await runningPortal() : ownRepository();

const SHELLS = [
  ['current', portal ?? shellFolder],
  // CI sets it after the first release.
  ...(process.env.PREVIOUS_SHELL ? [['previously published', process.env.PREVIOUS_SHELL]] : []),
];

/** See conformance.d.mts. */
export function checkSlice(slice, sources) {
  const folder = join(sources, '..');
  const slicePackage = packageOf(folder);
  const { name, version, peerDependencies, slice: settings } = slicePackage;
  const manifest = () => JSON.parse(readFileSync(join(folder, 'dist/mf-manifest.json'), 'utf8'));
  const problems = problemsOf(slice, slicePackage, { shell, others });

  describe(`${name} is a slice that the portal can load`, () => {
    test('it has the name and version of its package, and screens that load when they are opened', () => {
      expect(problems).toEqual([]);
    });
  });

  checkCatalogues(sources);

  // The build takes a minute, and is of no use to a slice with these problems.
  describe.skipIf(problems.length > 0)(`the build of ${name} can be loaded by the portal`, () => {
    beforeAll(async () => {
      await buildWhenStale(folder);
      if (shellFolder) await buildWhenStale(shellFolder);
    }, 2 * BUILD_MS);

    test('it exposes a slice by the name and version of its package, and nothing else', () => {
      const { exposes, remotes, metaData } = manifest();
      expect(exposes.map(({ path }) => path)).toEqual(['./slice']);
      expect(remotes).toEqual([]);
      expect(metaData.buildInfo).toMatchObject({ buildName: name, buildVersion: version });
    });

    test('what it shares is what the shell carries, in ranges of its own, and no copy comes with it', () => {
      const carried = { ...kit.peerDependencies, [kit.name]: '' };
      for (const { name: library, requiredVersion, assets } of manifest().shared) {
        const own = library.startsWith(`${kit.name}/`) ? kit.name : library;
        expect(carried, 'what the shell carries').toHaveProperty([own]);
        if (peerDependencies[own]) expect(requiredVersion, library).toBe(peerDependencies[own]);
        expect([...assets.js.sync, ...assets.js.async], `copies of ${library}`).toEqual([]);
      }
      expect(peerDependencies, 'the shells it is for').toHaveProperty(kit.name);
    });

    test(`it weighs at most ${settings.budget} bytes of brotli in all`, () => {
      const dist = join(folder, 'dist');
      const files = readdirSync(dist).filter((file) => /\.(js|css)\.br$/.test(file));
      const weight = files.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0);
      expect(weight).toBeGreaterThan(0);
      expect(weight).toBeLessThanOrEqual(settings.budget);
    });

    const screens = slice.routes.map(({ path }) => path.replaceAll(/:\w+/g, '1'));
    test.for(SHELLS)('it mounts in the %s shell', { timeout: 120_000 }, async ([, shell]) => {
      const script = join(import.meta.dirname, 'mount.mjs');
      // In its own process, because it has its own network and document.
      const { stdout } = await run(process.execPath, [script, shell, folder, ...screens], {
        timeout: 100_000,
      });
      const mounted = JSON.parse(stdout);
      expect(mounted.map(({ path }) => path)).toEqual(screens);
      for (const { path, failure, headings } of mounted) {
        expect(failure, path).toBeNull();
        expect(headings.length, `headings of ${path}`).toBeGreaterThan(0);
      }
    });
  });
}

/** The shell of the running portal, and the screens of its slices, by name. */
async function runningPortal() {
  const { shell, slices } = await readList(portal);
  const screens = Object.entries(slices).map(([name, { screens }]) => [name, screens]);
  return { shell, others: Object.fromEntries(screens) };
}

/** The screens of the shell and of the slices in this repository, and the shell's folder. */
function ownRepository() {
  const root = join(kitFolder, '..');
  const folders = readdirSync(root).filter((name) => name.startsWith('mfe-') && name !== 'mfe-kit');
  const screensOf = (name) => [name, packageOf(join(root, name)).slice?.screens ?? []];
  const { 'mfe-shell': ofShell, ...others } = Object.fromEntries(folders.map(screensOf));
  return { shell: { screens: ofShell }, others, folder: join(root, 'mfe-shell') };
}

/** Builds a package if its build is missing or older than its sources; one process builds, others wait. */
async function buildWhenStale(folder) {
  if (!isStale(folder)) return;
  const locks = join(shellFolder ? join(kitFolder, '..') : folder, 'node_modules/.cache');
  const lock = join(locks, `building-${folder.replaceAll(/[^a-z0-9]+/gi, '-')}`);
  mkdirSync(locks, { recursive: true });
  while (!takes(lock)) await new Promise((resolve) => setTimeout(resolve, 250));
  try {
    if (!isStale(folder)) return;
    const command = join(kitFolder, 'cli/mfe-kit.mjs');
    await run(process.execPath, [command, 'build'], { cwd: folder, timeout: BUILD_MS });
    // webpack does not write files that have not changed.
    utimesSync(builtFile(folder), new Date(), new Date());
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function takes(lock) {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    // Left by a process that was killed.
    if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > BUILD_MS) rmSync(lock, { recursive: true });
    return false;
  }
}

function isStale(folder) {
  const built = builtFile(folder);
  const own = ['src', 'build', 'package.json', 'webpack.config.mjs'].map((name) => join(folder, name));
  const sources = [...own.filter(existsSync), kitFolder];
  return !built || Math.max(...sources.map(newest)) > statSync(built).mtimeMs;
}

function builtFile(folder) {
  return ['mf-manifest.json', 'index.html'].map((file) => join(folder, 'dist', file)).find(existsSync);
}

function newest(path) {
  if (!statSync(path).isDirectory()) return statSync(path).mtimeMs;
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
    (file) =>
      file.isFile() && !/\/(dist|node_modules|template|shell)(\/|$)/.test(file.parentPath.slice(path.length)),
  );
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}
