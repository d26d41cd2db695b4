import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusalSentences } from './advice';

/** Where the server has the texts of mobile money. */
const SERVER = join(import.meta.dirname, '../../../server/crates/lending/src/mobile_money/outcome.rs');

function refusalsOfServer() {
  const source = readFileSync(SERVER, 'utf8');
  const [, count] = /ALL: \[Self; (\d+)\] = \[\$\(Self::\$refusal,\)\*\]/.exec(source) ?? [];
  const [, table = ''] = /^refusals! \{\n([^]*?)^\}/m.exec(source) ?? [];
  const texts = [...table.matchAll(/"([^"]+)",$/gm)].map(([, text = '']) => text);
  return { count: Number(count), texts };
}

const { count, texts } = refusalsOfServer();

test('every refusal that the server can give is found in its source', () => {
  expect(texts).toHaveLength(count);
  expect(count).toBeGreaterThanOrEqual(10);
});

test.for(texts)('what to do comes before what mobile money says: %s', (text) => {
  const [advice, said, ...others] = refusalSentences(text);
  expect(advice?.text).toMatch(/^[A-Z].+\.$/);
  expect([said, ...others]).toEqual([{ text, lang: 'en' }]);
});

test('a text that nothing is known about stands alone', () => {
  expect(refusalSentences('This loan has already been disbursed.')).toEqual([
    { text: 'This loan has already been disbursed.' },
  ]);
});
