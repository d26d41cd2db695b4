import { failureText } from 'mfe-kit';
import { expect, test } from 'vitest';
import { failures } from './failures';

test.for([
  ['payout', undefined, 'Disbursement failed. Please try again.'],
  ['dashboard', new TypeError('x is undefined'), 'Failed to load dashboard data'],
  ['pendingLoans', new TypeError('x is undefined'), 'Failed to load pending loans'],
] as const)('a failure of %s that is not one of a call, %s, reads %s', ([what, thrown, text]) => {
  expect(failureText(failures()[what], thrown)).toBe(text);
});
