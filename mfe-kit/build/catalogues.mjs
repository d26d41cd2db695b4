/** The check that every text of a package is there in every language. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

const OTHERS = ['sw'];
/** Stand for what a text is given; the first may be a number that decides on its form. */
const COUNTS = [1, 2, 90];
const MARKS = ['⟦B⟧', '⟦C⟧', '⟦D⟧', '⟦E⟧'];

/** See conformance.d.mts. */
export function checkCatalogues(sources) {
  const files = readdirSync(sources, { recursive: true }).filter(
    (file) =>
      file.endsWith('-texts.ts') && readFileSync(join(sources, file), 'utf8').includes('= catalogue('),
  );
  test.for(files)('%s has every text in every language', async (file) => {
    const path = join(sources, file);
    const texts = Object.values(await import(/* @vite-ignore */ path)).find((it) => typeof it === 'function');
    for (const language of OTHERS) {
      const other = await import(/* @vite-ignore */ path.replace('.ts', `-${language}.ts`));
      expect(gapsIn(texts(), other.default)).toEqual([]);
    }
  });
}

/** The gaps in the other language's texts, a sentence for each. */
export function gapsIn(english, other, name = '') {
  if (english === undefined) return [`${name} is not in English`];
  if (typeof english !== typeof other) return [`${name} is missing`];
  if (typeof english === 'string') return other.trim() === '' ? [`${name} is empty`] : [];
  if (typeof english === 'function') return gapsInForms(english, other, name);
  const names = new Set([...Object.keys(english), ...Object.keys(other)]);
  return [...names].flatMap((key) => gapsIn(english[key], other[key], name ? `${name}.${key}` : key));
}

function gapsInForms(english, other, name) {
  const select = vi.spyOn(Intl.PluralRules.prototype, 'select');
  const write = (form, count) => {
    select.mockClear();
    const written = (first) => form(...[first, ...MARKS].slice(0, english.length));
    return { text: writtenWith(written, count), isPlural: select.mock.calls.length > 0 };
  };
  const gaps = COUNTS.flatMap((count) => {
    const [one, two] = [write(english, count), write(other, count)];
    const isWhole = typeof two.text === 'string' && two.text.trim() !== '' && !/undefined/.test(two.text);
    if (!isWhole) return [`${name} has no text for ${count}`];
    const marks = [...(count === 90 ? ['90'] : []), ...MARKS];
    return [
      ...(one.isPlural && !two.isPlural ? [`${name} has no plural forms`] : []),
      ...marks
        .filter((mark) => one.text.includes(mark) !== two.text.includes(mark))
        .map((mark) => `${name} has other placeholders (${mark})`),
    ];
  });
  return [...new Set(gaps)];
}

/** What a form writes for a count, or for its digits if it wants a string. */
function writtenWith(form, count) {
  try {
    return form(count);
  } catch {
    return form(String(count));
  }
}
