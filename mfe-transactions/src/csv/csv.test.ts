import { expect, test } from 'vitest';
import { csvOf, csvTime } from './csv';

test('commas, quotes and lines stay in their cell, and nothing is computed', () => {
  expect(csvOf([['a,b', 'say "no"', 'one\ntwo', '=1+1', '-5', -5]])).toBe(
    '"a,b","say ""no""","one\ntwo",\'=1+1,\'-5,-5\r\n',
  );
});

test('a time is that of the zone, and a missing one is empty', () => {
  expect(csvTime('2026-11-13T21:00:00.000Z')).toBe('2026-11-14 00:00');
  expect(csvTime('2026-11-13T21:00:00.000Z', 'UTC')).toBe('2026-11-13 21:00');
  expect(csvTime('')).toBe('');
});
