import { expect, test } from 'vitest';
import { namedIn, written } from './security.mjs';

const page = (...rows) =>
  ['| No. | Requirement | Tests |', '|---|---|---|', ...rows, '', '| | Another table | kept |'].join('\n');

test('a test is named by the comment above it: a function of Rust, a file of the browser half, a check', () => {
  const rust = '    // S-1, S-2\n    #[cfg(unix)]\n    #[tokio::test]\n    async fn a_loan_is_paid_once() {';
  expect(namedIn('server/tests/api/payouts.rs', rust)).toEqual([
    { row: 'S-1', path: 'server/tests/api/payouts.rs', test: 'a_loan_is_paid_once' },
    { row: 'S-2', path: 'server/tests/api/payouts.rs', test: 'a_loan_is_paid_once' },
  ]);
  expect(namedIn('mfe-a/src/a.test.ts', "// S-3\ntest('a', …")[0].test).toBe('a.test.ts');
  expect(namedIn('tools/dependencies/deny', '# S-4\nset -e')[0].test).toBe('tools/dependencies/deny');
  expect(namedIn('server/src/lib.rs', '// As S-5 says\nfn main() {}')).toEqual([]);
});

test('the column has the tests of each row, and nothing else changes', () => {
  const named = ['b', 'a', 'a'].map((name) => ({ row: 'S-1', path: 'x.rs', test: name }));
  expect(written(page('| S-1 | 1.1 | `old` |', '| | 1.2 | `by hand` |'), named)).toEqual({
    page: page('| S-1 | 1.1 | `a`, `b` |', '| | 1.2 | |'),
    problems: [],
  });
});

test('a number without a row, without a test or with two rows is reported, and one above no test', () => {
  const named = [
    { row: 'S-2', path: 'x.rs', test: 'a' },
    { row: 'S-1', path: 'x.rs', test: undefined },
  ];
  expect(written(page('| S-1 | 1.1 | |', '| S-3 | 1.3 | |', '| S-1 | 1.4 | |'), named).problems).toEqual([
    'No test names S-3: name it above the test that proves it.',
    'docs/security.md has S-1 twice: give the newer row another number.',
    'x.rs names S-2, which is not in docs/security.md: correct the number.',
    'x.rs names S-1 above no test: put the comment directly above one.',
  ]);
});
