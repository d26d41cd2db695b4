/**
 * Packs the test kit for TypeScript as `dist/mkopo-test-<version>.tgz`, with compiled modules and their types.
 *
 *     npm run pack --workspace mkopo-test
 */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readPackage, root } from '../portal/slices.mjs';
import { compile, pack } from './package.mjs';

const kit = join(root, 'testkit/typescript');
const folder = join(kit, 'dist/package');

await rm(join(kit, 'dist'), { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await compile(kit, folder);
await copyFile(join(kit, 'README.md'), join(folder, 'README.md'));
await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
await pack(folder, await description());

/** The package's own description, with the compiled entries. */
async function description() {
  const { exports, ...own } = await readPackage('testkit/typescript');
  for (const field of ['private', 'scripts', 'devDependencies']) Reflect.deleteProperty(own, field);
  const built = (file) => file.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1');
  const entry = (file) =>
    file.endsWith('.ts') ? { types: `${built(file)}.d.ts`, default: `${built(file)}.js` } : file;
  return {
    ...own,
    exports: Object.fromEntries(Object.entries(exports).map(([name, file]) => [name, entry(file)])),
  };
}
