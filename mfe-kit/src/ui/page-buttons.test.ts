import { expect, test } from 'vitest';
import { pageButtons } from './page-buttons';

test.for([
  [1, 1, '1'],
  [3, 7, '1 2 3 4 5 6 7'],
  [1, 9, '1 2 3 4 5 … 9'],
  [4, 9, '1 2 3 4 5 … 9'],
  [5, 9, '1 … 4 5 6 … 9'],
  [6, 9, '1 … 5 6 7 8 9'],
  [9, 9, '1 … 5 6 7 8 9'],
  [5, 8, '1 … 4 5 6 7 8'],
] as const)('REQ-304 to REQ-308 page %d of %d shows %s', ([current, last, shown]) => {
  const buttons = pageButtons(current, last);
  expect(buttons.map((button) => (typeof button === 'number' ? button : '…')).join(' ')).toBe(shown);
  expect(buttons.length).toBeLessThanOrEqual(7);
});
