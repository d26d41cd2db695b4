import { expect, test } from 'vitest';
import { amountFrom, timeFrom } from './wire';

test.for([
  [25_000, 25_000],
  [0, 0],
  ['25000', 25_000],
  ['25000.00', 25_000],
  [' 25000 ', 25_000],
  ['25,000.00', null],
  ['KES 25000', null],
  ['0x1F', null],
  ['', null],
  [null, null],
  [undefined, null],
  [true, null],
  [[25_000], null],
  [{}, null],
  [JSON.parse('1e309'), null],
] as const)('the amount %j is read as %s', ([value, amount]) => {
  expect(amountFrom(value)).toBe(amount);
});

const TIME = '2025-11-12T08:15:30.000Z';

test.for([
  [TIME, TIME],
  ['2025-11-12T11:15:30+03:00', '2025-11-12T11:15:30+03:00'],
  ['soon', 'soon'],
  [1_762_935_330, TIME],
  [1_762_935_330_000, TIME],
  ['1762935330', TIME],
  ['1762935330000', TIME],
  [1_762_935_330.5, '2025-11-12T08:15:30.500Z'],
  [0, ''],
  [2025, ''],
  [1_762_935_330_000_000, ''],
  [null, ''],
  [{}, ''],
] as const)('the time %j is read as %s', ([value, time]) => {
  expect(timeFrom(value)).toBe(time);
});
