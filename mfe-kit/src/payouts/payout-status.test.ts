import { expect, test } from 'vitest';
import { payoutStatus } from './payout-status';

test.for([
  ['COMPLETED', 'success'],
  ['SUCCESS', 'success'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['PENDING', 'pending'],
  ['REVERSED', 'pending'],
  ['completed', 'pending'],
  ['', 'pending'],
] as const)('REQ-359 REQ-360 REQ-361 the status %s reads %s', ([wire, shown]) => {
  expect(payoutStatus(wire)).toBe(shown);
});
