import { ApiError, failureText } from 'mfe-kit';
import { expect, test } from 'vitest';
import { failures } from './failures';

const LOST = new ApiError({ kind: 'network' });

test.for([
  ['lists', 'transactions', LOST, 'Failed to fetch transactions'],
  ['lists', 'transactions', new TypeError('x is undefined'), 'Failed to load transactions'],
] as const)('%s %s: %s reads %s', ([, what, thrown, text]) => {
  expect(failureText(failures()[what], thrown)).toBe(text);
});
