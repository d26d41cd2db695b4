import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import webpack from 'webpack';
import { base } from './base.mjs';

let folder, compiler;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  folder = await mkdtemp(join(tmpdir(), 'mkopo-updates-'));
  compiler = webpack({
    ...base(folder, { name: 'mfe-repayments' }, 'development', { config: import.meta.filename }),
    entry: './slice.js',
    plugins: [new webpack.HotModuleReplacementPlugin()],
    cache: false,
    recordsPath: join(folder, 'records.json'), // what the build before was, which a watch has in its memory
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await promisify(compiler.close.bind(compiler))();
  await rm(folder, { recursive: true });
});

/** Saves the slice, and lists the updates that open pages find then. */
async function save(code) {
  await writeFile(join(folder, 'slice.js'), code);
  const stats = await promisify(compiler.run.bind(compiler))();
  expect(stats.toJson().errors).toEqual([]);
  return (await readdir(join(folder, 'dist'))).filter((file) => file.includes('.hot-update.'));
}

test('a page that asks late for its update finds it: it would be loaded again otherwise, without its state', async () => {
  expect(await save('export default 1;')).toEqual([]);
  const updates = await save('export default 2;');
  expect(updates).not.toEqual([]);
  for (const code of ['export default 3;', 'export default 4;']) {
    vi.setSystemTime(Date.now() + 60_000);
    expect(await save(code)).toEqual(expect.arrayContaining(updates));
  }
});
