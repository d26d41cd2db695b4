import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCatalogues } from 'mfe-kit/build/conformance';
import { expect, test } from 'vitest';
import type { SliceList } from './live-slices';
import swahili from './slices/brought-words-sw';

checkCatalogues(import.meta.dirname);

test('everything that the portal’s own slices bring is there in Swahili', () => {
  const root = join(import.meta.dirname, '../..');
  const brought = readdirSync(root)
    .filter((name) => name.startsWith('mfe-') && name !== 'mfe-kit')
    .flatMap((name) => {
      const { slice } = JSON.parse(readFileSync(join(root, name, 'package.json'), 'utf8')) as {
        slice: Partial<SliceList['slices'][string]>;
      };
      const { screens = [], menu = [], failures = {} } = slice;
      return [
        ...screens.map(({ title }) => title),
        ...menu.map(({ label }) => label),
        ...Object.values(failures),
      ];
    });
  expect(Object.keys(swahili).sort()).toEqual([...new Set(brought)].sort());
});
