import { expect, test } from 'vitest';
import { type PageButton, pageButtons } from './page-buttons';

/** Every page of every list of up to 60 pages. */
const WINDOWS = Array.from({ length: 60 }, (_, index) => index + 1).flatMap((last) =>
  Array.from({ length: last }, (_, index) => ({ current: index + 1, last })),
);

const written = (buttons: readonly PageButton[]) =>
  buttons.map((button) => (typeof button === 'number' ? String(button) : '…')).join(' ');

/** The pages with a button, as the specification says it, page by page rather than by ranges. */
function shownBySpecification(current: number, last: number): string {
  const isShown = (page: number) => {
    if (last <= 7) return true;
    if (current <= 4) return page <= 5 || page === last;
    if (last - current <= 3) return page === 1 || page > last - 5;
    return page === 1 || page === last || Math.abs(page - current) <= 1;
  };
  const shown = Array.from({ length: last }, (_, index) => index + 1).filter(isShown);
  return shown
    .map((page, index) => (index > 0 && page !== shown[index - 1]! + 1 ? `… ${page}` : page))
    .join(' ');
}

test.for([
  [1, 1, '1'],
  [3, 7, '1 2 3 4 5 6 7'],
  [4, 8, '1 2 3 4 5 … 8'],
  [5, 8, '1 … 4 5 6 7 8'],
  [1, 9, '1 2 3 4 5 … 9'],
  [4, 9, '1 2 3 4 5 … 9'],
  [5, 9, '1 … 4 5 6 … 9'],
  [6, 9, '1 … 5 6 7 8 9'],
  [9, 9, '1 … 5 6 7 8 9'],
  [7143, 14_286, '1 … 7142 7143 7144 … 14286'],
] as const)('page %d of %d shows %s', ([current, last, shown]) => {
  expect(written(pageButtons(current, last))).toBe(shown);
});

test('REQ-305 REQ-306 REQ-307 REQ-308 every list of up to 60 pages has the buttons of the specification', () => {
  const wrong = WINDOWS.filter(
    ({ current, last }) => written(pageButtons(current, last)) !== shownBySpecification(current, last),
  );
  expect(wrong).toEqual([]);
  expect(WINDOWS).toHaveLength((60 * 61) / 2);
});

test.for(WINDOWS.filter(({ last }) => last <= 12 || last === 60))(
  'REQ-304 page $current of $last: at most 7 places, both ends and the page itself, each once, in order',
  ({ current, last }) => {
    const buttons = pageButtons(current, last);
    const pages = buttons.filter((button) => typeof button === 'number');
    expect(buttons.length).toBeLessThanOrEqual(7);
    expect(buttons).toHaveLength(Math.min(last, 7));
    expect(pages).toEqual(expect.arrayContaining([1, current, last]));
    expect(pages).toEqual([...new Set(pages)].sort((a, b) => a - b));
    expect(pages.every((page) => page >= 1 && page <= last)).toBe(true);
    // A gap never replaces a single page, which would fit in its place, or no page.
    buttons.forEach((button, index) => {
      if (typeof button === 'number') return;
      expect(Number(buttons[index + 1]) - Number(buttons[index - 1])).toBeGreaterThan(2);
    });
  },
);
