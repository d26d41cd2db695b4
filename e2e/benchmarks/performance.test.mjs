import { expect, test } from 'vitest';
import { withFigures, withSection } from './performance.mjs';

const machine = {
  processor: 'A processor',
  cores: 2,
  memory: 23,
  system: 'Linux 6.1',
  disk: 'ext4',
  rust: '1.95.0',
  node: '20.20.2',
};
const yesterday = { date: '2026-11-21 03:00 UTC', commit: 'aaaaaaa', machine, load: 0.1 };
const today = { date: '2026-11-22 03:00 UTC', commit: 'bbbbbbb', machine, load: 0.2 };

const lists = (values) => ({
  bench: 'lists',
  title: 'Lists',
  how: 'In turns.',
  software: ['nginx 1.22'],
  tables: [
    {
      title: '100 loans',
      figures: [
        { what: 'calls', unit: '/s', values: [41_234.567, 40_000, 43_000] },
        { what: 'processor time, ratio', unit: '', values, target: '≤ 1.15' },
      ],
    },
  ],
});
const payouts = {
  bench: 'payouts',
  title: 'Payouts',
  how: 'At once.',
  tables: [{ title: 'Rates', figures: [{ what: 'shared', unit: '/s', values: [2500], target: '≥ 3000' }] }],
};

test('a benchmark that is run alone replaces its own section and no other', () => {
  const first = withSection(withSection([], payouts, yesterday), lists([1.3]), yesterday);
  const second = withSection(first, lists([1.1]), today);
  expect(second.map(({ bench, date }) => [bench, date])).toEqual([
    ['lists', today.date],
    ['payouts', yesterday.date],
  ]);
});

test('a table has the median, the spread and whether the target is met', () => {
  const sections = withSection(withSection([], lists([1.2, 1.05, 1.1]), today), payouts, yesterday);
  expect(withFigures('# Performance\n', sections)).toMatchInlineSnapshot(`
    "# Performance

    <!-- Written by \`make bench\` from performance.json; change nothing here. -->

    ## Measured

    \`make bench\` measures what follows and writes it here and, with the value of every round, to
    [performance.json](performance.json). \`make bench BENCH="lists payouts"\` measures only those again; the other sections
    stay as they are. Each figure is the median of its rounds. A target is met if the median meets it: 1 of
    2 are; these are not:

    - Payouts, Rates: shared, 2,500 /s (≥ 3000)

    ### Lists

    In turns.

    Measured 2026-11-22 03:00 UTC at bbbbbbb: A processor, 2 cores, 23 GB, Linux 6.1, temporary files on ext4; Rust 1.95.0, Node.js 20.20.2, nginx 1.22. Load average before: 0.2.

    **100 loans**

    |  | Median | Least to most | Rounds | Target | Met |
    | --- | --- | --- | --- | --- | --- |
    | calls | 41,235 /s | 40,000 to 43,000 | 3 |  |  |
    | processor time, ratio | 1.10 | 1.05 to 1.20 | 3 | ≤ 1.15 | yes |

    ### Payouts

    At once.

    Measured 2026-11-21 03:00 UTC at aaaaaaa: A processor, 2 cores, 23 GB, Linux 6.1, temporary files on ext4; Rust 1.95.0, Node.js 20.20.2. Load average before: 0.1.

    **Rates**

    |  | Median | Least to most | Rounds | Target | Met |
    | --- | --- | --- | --- | --- | --- |
    | shared | 2,500 /s | – | 1 | ≥ 3000 | **no** |

    <!-- End of what \`make bench\` writes. -->
    "
  `);
});

test('what is written by hand stays, before and after the figures', () => {
  const once = withFigures('# Performance\n\n## By hand\n', withSection([], payouts, yesterday));
  const edited = once.replace('## By hand', '## By another hand') + '\n## Afterwards\n';
  const twice = withFigures(edited, withSection([], lists([1]), today));
  expect(twice).toMatch(/^# Performance\n\n## By another hand\n/);
  expect(twice).toMatch(/\n## Afterwards\n$/);
  expect(twice).not.toContain('### Payouts');
  expect(withFigures(twice, withSection([], lists([1]), today))).toBe(twice);
});

test('a target that nobody can meet is refused', () => {
  const wrong = { ...payouts, tables: [{ title: '', figures: [{ what: '', values: [1], target: '3' }] }] };
  expect(() => withSection([], wrong, today)).toThrow("'3' is not a target such as '≤ 3'");
});
