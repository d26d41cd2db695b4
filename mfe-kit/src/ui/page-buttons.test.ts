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

test('REQ-304..308 every list of up to 60 pages has the buttons of the specification, at most 7', () => {
  const wrong = WINDOWS.filter(({ current, last }) => {
    const buttons = pageButtons(current, last);
    return buttons.length > 7 || written(buttons) !== shownBySpecification(current, last);
  });
  expect(wrong).toEqual([]);
  expect(WINDOWS).toHaveLength((60 * 61) / 2);
});
