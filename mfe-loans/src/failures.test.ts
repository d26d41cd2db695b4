import { ApiError, failureText } from 'mfe-kit';
import { expect, test } from 'vitest';
import { failures } from './failures';

const server = (error?: string, message?: string) =>
  new ApiError({ kind: 'server', status: 400, error, message });
const LOST = new ApiError({ kind: 'network' });

test.for([
  ['payouts', 'payout', server(undefined, 'Insufficient funds'), 'Insufficient funds'],
  ['payouts', 'payout', LOST, 'Failed to disburse loan'],
  ['payouts', 'payout', undefined, 'Disbursement failed. Please try again.'],
  ['lists', 'dashboard', LOST, 'Failed to fetch dashboard stats'],
  ['lists', 'dashboard', new TypeError('x is undefined'), 'Failed to load dashboard data'],
  ['lists', 'pendingLoans', LOST, 'Failed to fetch pending disbursements'],
  ['lists', 'pendingLoans', new TypeError('x is undefined'), 'Failed to load pending loans'],
] as const)('%s %s: %s reads %s', ([, what, thrown, text]) => {
  expect(failureText(failures()[what], thrown)).toBe(text);
});
