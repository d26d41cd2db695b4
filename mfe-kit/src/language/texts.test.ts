import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCatalogues } from 'mfe-kit/build/conformance';
import { expect, test } from 'vitest';
import refusals from '../failures/refusals-sw';

checkCatalogues(join(import.meta.dirname, '..'));

test('the failures that have a Swahili text are those of the contract', () => {
  const contract = readFileSync(join(import.meta.dirname, '../../../contract/openapi.yaml'), 'utf8');
  for (const code of Object.keys(refusals)) expect(contract).toMatch(new RegExp(`\\b${code}\\b`));
});
