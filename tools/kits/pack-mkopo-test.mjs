/**
 * Packs the test kit for TypeScript as `dist/mkopo-test-<version>.tgz`, with compiled modules and their types.
 *
 *     npm run pack --workspace mkopo-test
 */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../portal/slices.mjs';
import { compile, descriptionOf, pack } from './package.mjs';

const kit = join(root, 'testkit/typescript');
const folder = join(kit, 'dist/package');

await rm(join(kit, 'dist'), { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await compile(kit, folder);
await copyFile(join(kit, 'README.md'), join(folder, 'README.md'));
await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
await pack(folder, await descriptionOf('testkit/typescript'));
