import { setPortalSettings } from 'mfe-kit';
import { disbursementRecord, pendingLoan } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { loanFrom } from '../loan/loan';
import { payoutFrom } from '../payout/payout';
import { statsOf } from './stats';

/** Noon in Nairobi, three hours ahead of UTC. */
const NOW = new Date('2026-11-14T09:00:00.000Z');

const paid = (amount: number, created_at: string, status: 'COMPLETED' | 'PENDING' | 'FAILED' = 'COMPLETED') =>
  payoutFrom(disbursementRecord({ loan_id: `LN-${amount}`, amount, created_at, status }));

const approved = (loan_id: string, approved_at: string) => loanFrom(pendingLoan({ loan_id, approved_at }));

test('REQ-172 REQ-173 REQ-176 REQ-362 the count is of pending loans, the total of successful payouts', () => {
  const loans = [approved('LN-1', '2026-11-12T08:00:00Z'), approved('LN-2', '2026-11-13T08:00:00Z')];
  const stats = statsOf(
    loans,
    [
      paid(1000, '2026-01-01T00:00:00Z'),
      paid(200, '2026-11-14T06:00:00Z'),
      paid(30, '2026-11-14T06:00:00Z', 'FAILED'),
      paid(4, '2026-11-14T06:00:00Z', 'PENDING'),
    ],
    NOW,
  );
  expect(stats).toMatchObject({
    pendingDisbursements: 2,
    totalDisbursed: 1200,
    disbursedToday: 200,
    disbursedThisWeek: 200,
    pendingLoans: loans,
  });
});

const IN_NEW_YORK = { time_zone: 'America/New_York' };

test.for([
  ['REQ-174 REQ-177 today starts at local midnight', {}, 'disbursedToday', '2026-11-13T21:00:00.000Z'],
  ['today is the deployment’s, not the browser’s', IN_NEW_YORK, 'disbursedToday', '2026-11-14T05:00:00.000Z'],
  [
    'REQ-175 REQ-178 a week starts at midnight 7 days ago',
    {},
    'disbursedThisWeek',
    '2026-11-06T21:00:00.000Z',
  ],
] as const)('%s', ([, settings, figure, start]) => {
  setPortalSettings(settings);
  const before = paid(1, new Date(Date.parse(start) - 1).toISOString());
  expect(statsOf([], [before, paid(20, start)], NOW)[figure]).toBe(20);
});

test('a payout dated after today counts towards neither today nor the week', () => {
  const figures = statsOf(
    [],
    [paid(1, '2026-11-14T20:59:59.999Z'), paid(20, '2026-11-14T21:00:00.000Z')],
    NOW,
  );
  expect(figures).toMatchObject({ totalDisbursed: 21, disbursedToday: 1, disbursedThisWeek: 1 });
});

test('REQ-187 REQ-188 REQ-189 REQ-190 REQ-191 recent activity is the latest payout, approval and failure, newest first', () => {
  const { recentActivities } = statsOf(
    [approved('LN-OLD', '2026-11-10T08:00:00Z'), approved('LN-NEW', '2026-11-13T08:00:00Z')],
    [
      paid(1, '2026-11-14T08:00:00Z'),
      paid(2, '2026-11-14T07:00:00Z'),
      paid(3, '2026-11-12T08:00:00Z', 'FAILED'),
      paid(4, '2026-11-11T08:00:00Z', 'FAILED'),
      paid(5, '2026-11-14T08:30:00Z', 'PENDING'),
    ],
    NOW,
  );
  expect(recentActivities.map(({ type, loanId }) => [type, loanId])).toEqual([
    ['disbursement', 'LN-1'],
    ['approval', 'LN-NEW'],
    ['failed_disbursement', 'LN-3'],
  ]);
});

test('REQ-192 an activity has every field that the list shows', () => {
  const record = disbursementRecord({
    loan_id: 'LN-1',
    status: 'FAILED',
    error_message: 'Above the maximum',
    amount: 300_000,
    created_at: '2026-11-14T08:00:00Z',
  });
  expect(statsOf([], [payoutFrom(record)], NOW).recentActivities).toEqual([
    {
      type: 'failed_disbursement',
      loanId: 'LN-1',
      customerName: 'Wanjiku Kamau',
      amount: 300_000,
      date: '2026-11-14T08:00:00Z',
      status: 'failed',
      errorMessage: 'Above the maximum',
    },
  ]);
});

test('an item with an invalid date is ignored', () => {
  const { recentActivities } = statsOf(
    [approved('LN-UNDATED', ''), approved('LN-1', '2026-11-10T08:00:00Z')],
    [paid(1, 'soon')],
    NOW,
  );
  expect(recentActivities.map(({ loanId }) => loanId)).toEqual(['LN-1']);
});
