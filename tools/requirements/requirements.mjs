/** Compares the numbers of docs/requirements.md with those that tests name. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = 'docs/requirements.md';
// Its own test names numbers without proving a row.
const TESTS = ['*.test.*', '*.spec.*', 'testkit/*/tests/*', 'server/*.rs', ':!tools/requirements'];

export const page = () => readFileSync(join(ROOT, PAGE), 'utf8');

/** The text of every test, by path. */
export function tests() {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...TESTS], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const paths = listed.split('\n').filter((path) => path && existsSync(join(ROOT, path)));
  return new Map(paths.map((path) => [path, testsIn(path, readFileSync(join(ROOT, path), 'utf8'))]));
}

/** The tests of a Rust file outside `tests` follow its code. */
export function testsIn(path, text) {
  if (!path.endsWith('.rs') || path.includes('/tests/')) return text;
  const start = text.indexOf('#[cfg(test)]');
  return start === -1 ? '' : text.slice(start);
}

/** One sentence for each number that is wrong, which says what to do. */
export function problemsOf(requirements, testsByPath) {
  const rows = [...requirements.matchAll(/^- \*\*REQ-(\d+)\*\* /gm)].map((row) => Number(row[1]));
  const known = new Set(rows);
  const last = Math.max(0, ...rows);
  const named = new Set();
  const problems = [];

  for (const [path, text] of testsByPath)
    for (const number of numbersIn(text)) {
      named.add(number);
      if (!known.has(number))
        problems.push(
          `${path} names ${id(number)}, which is not in ${PAGE}: correct the number or add the row.`,
        );
    }
  for (const number of new Set(rows.filter((row, index) => rows.indexOf(row) !== index)))
    problems.push(
      `${PAGE} has ${id(number)} twice: give the newer row the next free number, ${id(last + 1)}.`,
    );
  for (let number = 1; number <= last; number += 1)
    if (!known.has(number))
      problems.push(
        `${PAGE} has no ${id(number)}: put its row back, or give the last row this number if it is new.`,
      );
  for (const number of known)
    if (!named.has(number))
      problems.push(
        `No test names ${id(number)}: write the test that proves it, or name it in the one that does.`,
      );
  return problems;
}

/** Each number once, those between the ends of `REQ-105..107` too. */
function numbersIn(text) {
  const numbers = new Set();
  for (const [, first, end = first] of text.matchAll(/REQ-(\d+)(?:\.\.(\d+))?/g))
    for (let number = Number(first); number <= Number(end); number += 1) numbers.add(number);
  return numbers;
}

const id = (number) => `REQ-${String(number).padStart(3, '0')}`;
