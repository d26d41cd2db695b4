import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { archiveOf } from './archive.mjs';

let folder;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'build-'));
});

afterEach(() => rm(folder, { recursive: true }));

test('source maps are sent, but for one that is larger than the server takes', async () => {
  await writeFile(join(folder, 'a.js'), 'a');
  await writeFile(join(folder, 'a.js.map'), '{}');
  await writeFile(join(folder, 'b.js.map'), Buffer.alloc(8 * 1024 * 1024 + 1));
  const archive = await archiveOf(folder);
  const names = [0, 2].map((block) => archive.toString('latin1', block * 512, block * 512 + 8));
  expect(names).toEqual(['a.js\0\0\0\0', 'a.js.map']);
  expect(archive.length).toBe((2 * 2 + 2) * 512);
});
