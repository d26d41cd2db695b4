/**
 * Packs the kit as `dist/mkopo-test-<version>.tgz`, with compiled modules and their types.
 *
 *     npm run pack --workspace mkopo-test
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packTypes } from 'mkopo-contract/pack';
import { replaceTscAliasPaths } from 'tsc-alias';

const run = promisify(execFile);
const kit = join(import.meta.dirname, '..');
const root = join(kit, '../..');
const folder = join(kit, 'dist/package');

await rm(join(kit, 'dist'), { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const configFile = join(kit, 'tsconfig.package.json');
await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', configFile]);
await replaceTscAliasPaths({ configFile, outDir: join(folder, 'dist'), resolveFullPaths: true });
await packTypes(join(folder, 'dist'));
await copyFile(join(kit, 'README.md'), join(folder, 'README.md'));
await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
await writeFile(join(folder, 'package.json'), `${JSON.stringify(await packageJson(), null, 2)}\n`);
const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', join(kit, 'dist')], {
  cwd: folder,
});
const [packed] = Object.values(JSON.parse(stdout));
console.log(`testkit/typescript/dist/${packed.filename}: ${packed.size} bytes, ${packed.integrity}`);

/** The package's own description, with the compiled entries. */
async function packageJson() {
  const { exports, ...own } = JSON.parse(await readFile(join(kit, 'package.json'), 'utf8'));
  for (const field of ['private', 'scripts', 'devDependencies']) Reflect.deleteProperty(own, field);
  const built = (file) => file.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1');
  const entry = (file) =>
    file.endsWith('.ts') ? { types: `${built(file)}.d.ts`, default: `${built(file)}.js` } : file;
  return {
    ...own,
    exports: Object.fromEntries(Object.entries(exports).map(([name, file]) => [name, entry(file)])),
  };
}
