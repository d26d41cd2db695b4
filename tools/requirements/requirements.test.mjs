import { expect, test } from 'vitest';
import { page, problemsOf, tests, testsIn } from './requirements.mjs';

const pageWith = (...numbers) => numbers.map((number) => `- **REQ-${number}** A statement.\n`).join('');
const namedIn = (text) => new Map([['a.test.ts', text]]);

test('every row of docs/requirements.md is named by a test, and every number that a test names is a row', () => {
  const problems = problemsOf(page(), tests());
  expect(problems, problems.join('\n')).toEqual([]);
});

test('a number that is not on the page is reported with its file', () => {
  expect(problemsOf(pageWith('001', '002'), namedIn('REQ-001..003 a name; REQ-12 another'))).toEqual([
    'a.test.ts names REQ-003, which is not in docs/requirements.md: correct the number or add the row.',
    'a.test.ts names REQ-012, which is not in docs/requirements.md: correct the number or add the row.',
  ]);
});

test('a row that no test names is reported', () => {
  expect(problemsOf(pageWith('001', '002', '003'), namedIn('REQ-001..002'))).toEqual([
    'No test names REQ-003: write the test that proves it, or name it in the one that does.',
  ]);
});

test('a number that is on the page twice, or is missing between others, is reported', () => {
  expect(problemsOf(pageWith('001', '002', '002', '004'), namedIn('REQ-001..002 REQ-004'))).toEqual([
    'docs/requirements.md has REQ-002 twice: give the newer row the next free number, REQ-005.',
    'docs/requirements.md has no REQ-003: put its row back, or give the last row this number if it is new.',
  ]);
});

test('a number in the code of a crate is not a test that names it', () => {
  const file = '/// REQ-001\nfn pay() {}\n\n#[cfg(test)]\nmod tests {\n    // REQ-002\n}\n';
  expect(testsIn('server/src/payouts/pay.rs', file)).not.toContain('REQ-001');
  expect(testsIn('server/src/payouts/pay.rs', file)).toContain('REQ-002');
  expect(testsIn('server/tests/api/payouts.rs', file)).toBe(file);
});
