import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { expect, test } from 'mkopo-test';

/** The test of a page, exactly as written but for its import. */
function sampleOf(page: string): string {
  const text = readFileSync(join(import.meta.dirname, '../../..', page), 'utf8');
  return /```ts\nimport \{ expect, test \} from 'mkopo-test';\n(.*?)```/s.exec(text)?.[1] ?? '';
}

const sample = sampleOf('docs/testing.md');

const declare = compileFunction(sample, ['expect', 'test'], { filename: import.meta.filename }) as (
  ...given: unknown[]
) => void;
declare(expect, test);

test("the package's page has the same test", () => {
  expect(sample).toContain('Disburse Loan');
  expect(sampleOf('testkit/typescript/README.md')).toBe(sample);
});
