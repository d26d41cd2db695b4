import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplesIn } from './examples';

const folder = join(import.meta.dirname, 'parts');
const PARTS = readdirSync(folder).map((file) => {
  const code = readFileSync(join(folder, file), 'utf8');
  return { code, ...examplesIn(file.replace('.tsx', ''), code) };
});

test.for(PARTS)('$name has a sentence, its entry and states', ({ about, entry, states }) => {
  expect(about).toMatch(/^[A-Z].*\.$/);
  expect(entry).toMatch(/^mfe-kit\/ui/);
  expect(states.length).toBeGreaterThan(0);
});

test('every part that the kit exports is in the gallery', () => {
  for (const entry of ['ui', 'ui-layout', 'ui-data']) {
    const exports = readFileSync(join(import.meta.dirname, `../src/${entry}.ts`), 'utf8');
    const names = [...exports.matchAll(/(?<=[{,] (?:default as )?)(?!default|type)\w+(?=[ ,])/g)].map(
      ([name]) => name,
    );
    const parts = names.filter((name) => /^[A-Z]/.test(name) && name !== 'ThemeProvider');
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts)
      expect(
        PARTS.some(({ code }) =>
          new RegExp(`^import [^;]*\\b${part}\\b[^;]* from 'mfe-kit/${entry}';`, 'm').test(code),
        ),
        `an example of ${part}`,
      ).toBe(true);
  }
});

test('the code of a state is what it draws, without its function', () => {
  const code = `/** A thing. */
import { Thing } from 'mfe-kit/ui';

const SIZE = 3;

export function WithASize() {
  return (
    <>
      <Thing size={SIZE} />
      <Thing />
    </>
  );
}

export function Plain() {
  return <Thing />;
}

export function Open() {
  const [isOpen] = useState(true);
  return <Thing isOpen={isOpen} />;
}
`;
  expect(examplesIn('Thing', code)).toEqual({
    name: 'Thing',
    entry: 'mfe-kit/ui',
    about: 'A thing.',
    setup: "import { Thing } from 'mfe-kit/ui';\n\nconst SIZE = 3;",
    states: [
      { name: 'WithASize', title: 'With a size', code: '<Thing size={SIZE} />\n<Thing />' },
      { name: 'Plain', title: 'Plain', code: '<Thing />' },
      {
        name: 'Open',
        title: 'Open',
        code: 'const [isOpen] = useState(true);\nreturn <Thing isOpen={isOpen} />;',
      },
    ],
  });
});
