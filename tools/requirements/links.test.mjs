import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The text of a page without its code. */
const textOf = (page) => readFileSync(join(root, page), 'utf8').replace(/^ *```[^]*?^ *```/gm, '');

/** The anchors that GitHub gives the headings of a page. */
const anchorsOf = (page) =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link of a page to a file or a heading of this repository leads there', () => {
  const options = { cwd: root, encoding: 'utf8' };
  const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], options)
    .trim()
    .split('\n');
  const broken = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path, anchor]) => {
        const target = path ? join(dirname(page), path) : page;
        return !existsSync(join(root, target)) || (anchor && !anchorsOf(target).includes(anchor));
      })
      .map(([link]) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});
