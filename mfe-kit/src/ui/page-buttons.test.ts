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

test('REQ-304..308 every list of up to 60 pages has the buttons of the specification, at most 7', () => {
  const wrong = WINDOWS.filter(({ current, last }) => {
    const buttons = pageButtons(current, last);
    return buttons.length > 7 || written(buttons) !== shownBySpecification(current, last);
  });
  expect(wrong).toEqual([]);
  expect(WINDOWS).toHaveLength((60 * 61) / 2);
});
