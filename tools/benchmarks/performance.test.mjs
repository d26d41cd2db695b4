import { expect, test } from 'vitest';
import { withSection } from './performance.mjs';

const machine = {
  processor: 'A processor',
  cores: 2,
  memory: 23,
  system: 'Linux 6.1',
  disk: 'ext4',
  rust: '1.95.0',
  node: '20.20.2',
};
const run = { date: '2026-11-22 03:00 UTC', commit: 'bbbbbbb', machine, load: 0.2 };

const lists = (values) => ({
  bench: 'lists',
  title: 'Lists',
  how: 'In turns.',
  software: ['a mock 1.22'],
  tables: [
    {
      title: '100 loans',
      figures: [
        { what: 'calls', unit: '/s', values: [41_234.567, 40_000, 43_000] },
        { what: 'against ready bytes', unit: '', values, target: '≥ 0.5' },
        { what: 'p99', unit: 'ms', values: [6], target: '≤ 5' },
      ],
    },
  ],
});

const PAGE = `# Performance

By hand.

<!-- Written by make bench: lists -->
<!-- End: lists -->

Between.

<!-- Written by make bench: payouts -->

### Payouts

<!-- End: payouts -->
`;

test('a section has the machine, and of each figure the median, the spread and whether the target is met', () => {
  expect(withSection(PAGE, lists([0.4, 0.55, 0.5]), run)).toMatchInlineSnapshot(`
    "# Performance

    By hand.

    <!-- Written by make bench: lists -->

    ### Lists

    In turns.

    Measured 2026-11-22 03:00 UTC at bbbbbbb: A processor, 2 cores, 23 GB, Linux 6.1, temporary files on ext4; Rust 1.95.0, Node.js 20.20.2, a mock 1.22. Load average before: 0.2.

    **100 loans**

    |  | Median | Least to most | Rounds | Target | Met |
    | --- | --- | --- | --- | --- | --- |
    | calls | 41,235 /s | 40,000 to 43,000 | 3 |  |  |
    | against ready bytes | 0.50 | 0.40 to 0.55 | 3 | ≥ 0.5 | yes |
    | p99 | 6.00 ms | – | 1 | ≤ 5 | **no** |

    <!-- End: lists -->

    Between.

    <!-- Written by make bench: payouts -->

    ### Payouts

    <!-- End: payouts -->
    "
  `);
});

test('a benchmark that is run again replaces its own section and nothing else', () => {
  const once = withSection(PAGE, lists([0.4]), run);
  const edited = once.replace('By hand.', 'By another hand.');
  const twice = withSection(edited, lists([0.6]), { ...run, commit: 'ccccccc' });
  expect(twice).toContain('By another hand.\n\n<!-- Written by make bench: lists -->\n\n### Lists\n');
  expect(twice).toContain('at ccccccc');
  expect(twice).not.toContain('at bbbbbbb');
  expect(twice).toContain('Between.\n\n<!-- Written by make bench: payouts -->\n\n### Payouts\n\n<!-- End');
  expect(withSection(twice, lists([0.4]), run)).toBe(edited);
});

test('a benchmark that the page has no place for is refused', () => {
  expect(() => withSection('# Performance\n', lists([1]), run)).toThrow("has no place for 'lists'");
});

test('a target that nobody can meet is refused', () => {
  const wrong = { ...lists([1]), tables: [{ title: '', figures: [{ what: '', values: [1], target: '3' }] }] };
  expect(() => withSection(PAGE, wrong, run)).toThrow("'3' is not a target such as '≤ 3'");
});
