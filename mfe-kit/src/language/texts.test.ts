import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCatalogues } from 'mfe-kit/build/conformance';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import refusals from '../failures/refusals-sw';

checkCatalogues(join(import.meta.dirname, '..'));

/** The tags of the operations that screens call. */
const SCREENS = new Set(['sign-in', 'loans', 'payouts', 'live screens', 'portal']);

interface Example {
  value: { code: string };
}
interface Reference {
  $ref: string;
}
interface Answer {
  content?: { 'application/json'?: { examples?: Record<string, Example | Reference> } };
}
interface Operation {
  tags?: string[];
  responses?: Record<string, Answer | Reference>;
}
interface Contract {
  paths: Record<string, Record<string, Operation>>;
}

// Codes that no screen's call gets or no screen shows, and refusals of mobile money, which come with advice.
const NOT_SHOWN = new Set([
  'bad_idempotency_key',
  'bad_parameter',
  'cross_site',
  'malformed_json',
  'mobile_money_refused',
  'too_many_streams',
  'unsupported_media_type',
  'uri_too_long',
]);

test('each failure of a call that screens make has a Swahili text', () => {
  const translated = Object.keys(refusals);
  const codes = codesOfScreens();
  const untranslated = codes.filter((code) => !NOT_SHOWN.has(code) && !translated.includes(code));
  expect(untranslated, 'Add a sentence to failures/refusals-sw.ts, or the code to NOT_SHOWN above.').toEqual(
    [],
  );
  expect(translated.filter((code) => !codes.includes(code))).toEqual([]);
});

/** The codes of the failures that the contract shows for calls of the portal. */
function codesOfScreens() {
  const text = readFileSync(join(import.meta.dirname, '../../../contract/openapi.yaml'), 'utf8');
  const contract = parse(text, { merge: true, maxAliasCount: -1 }) as Contract;
  const resolved = <T>(node: T | { $ref: string }): T => {
    if (typeof node !== 'object' || node === null || !('$ref' in node)) return node;
    const path = node.$ref.slice('#/'.length).split('/');
    return resolved(path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], contract) as T);
  };
  const operations = Object.values(contract.paths).flatMap((path) => Object.values(path));
  const codes = operations
    .filter(({ tags }) => tags?.some((tag) => SCREENS.has(tag)))
    .flatMap(({ responses }) => Object.entries(responses ?? {}))
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, response]) =>
      Object.values(resolved(response).content?.['application/json']?.examples ?? {}),
    )
    .map((example) => resolved(example).value.code);
  return [...new Set(codes)];
}
