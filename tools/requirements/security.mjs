/**
 * Writes the tests of docs/security.md: those below a comment with the number of a row, such as `S-12, S-40`. With
 * `--check`, only says what is wrong.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = 'docs/security.md';
const COMMENT = /^ *(?:\/\/|#) (S-\d+(?:, S-\d+)*)$/;
const ROW = /^\| (?:(S-\d+) )?(\|.*\|)[^|]*\|$/;

/** Each number in a file, with what the page calls its test: a function of Rust, else the file. */
export function namedIn(path, text) {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const rows = COMMENT.exec(line)?.[1].split(', ') ?? [];
    const below = lines.slice(at + 1).find((next) => !/^ *(?:#\[|\/\/)/.test(next));
    const file = /\.(?:test|spec)\.tsx?$/.test(path) ? basename(path) : path;
    const test = path.endsWith('.rs') ? /\bfn (\w+)/.exec(below)?.[1] : file;
    return rows.map((row) => ({ row, path, test }));
  });
}

/** The page with these tests in its last column, and one sentence for each number that is wrong. */
export function written(page, named) {
  const problems = [];
  const rows = new Set();
  let isTable = false;
  const lines = page.split('\n').map((line) => {
    isTable = line.startsWith('|') && (isTable || line.startsWith('| No. |'));
    const [, row, cells] = (isTable && ROW.exec(line)) || [];
    if (!cells) return line;
    const tests = [...new Set(named.filter((one) => one.row === row).map(({ test }) => `\`${test}\``))];
    if (row && rows.has(row)) problems.push(`${PAGE} has ${row} twice: give the newer row another number.`);
    if (row && tests.length === 0)
      problems.push(`No test names ${row}: name it above the test that proves it.`);
    rows.add(row);
    return `| ${row ? `${row} ` : ''}${cells} ${tests.length > 0 ? `${tests.sort().join(', ')} ` : ''}|`;
  });
  for (const { row, path, test } of named) {
    if (!rows.has(row)) problems.push(`${path} names ${row}, which is not in ${PAGE}: correct the number.`);
    if (!test) problems.push(`${path} names ${row} above no test: put the comment directly above one.`);
  }
  return { page: lines.join('\n'), problems };
}

if (process.argv[1] === import.meta.filename) {
  const read = (path) => readFileSync(join(ROOT, path), 'utf8');
  const found = ['grep', '--untracked', '-lE', '^ *(//|#) S-[0-9]+', '--', ':!*.md', ':!tools/requirements'];
  const paths = execFileSync('git', found, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  const { page, problems } = written(
    read(PAGE),
    paths.flatMap((path) => namedIn(path, read(path))),
  );
  if (!process.argv.includes('--check')) writeFileSync(join(ROOT, PAGE), page);
  else if (page !== read(PAGE))
    problems.push(
      `${PAGE} does not have the tests that name its rows: run node tools/requirements/security.mjs.`,
    );
  for (const problem of problems) console.error(`mkopo: ${problem}`);
  if (problems.length > 0) process.exit(1);
}
