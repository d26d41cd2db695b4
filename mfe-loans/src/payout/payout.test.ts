import { disbursement, disbursementRecord } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { payoutFrom } from './payout';

test('a settled response describes the payout and the loan', () => {
  expect(payoutFrom(disbursement({ id: 'PAY-1', loan_id: 'LN-1' }))).toEqual({
    id: 'PAY-1',
    loanId: 'LN-1',
    customerName: 'Wanjiku Kamau',
    amount: 25_000,
    status: 'success',
    date: '2026-11-14T09:30:00.000Z',
    reference: 'UKE7Q2M9XA',
    errorMessage: null,
    loanStatus: 'disbursed',
    disbursementStatus: 'COMPLETED',
    disbursedAt: '2026-11-14T09:30:02.000Z',
    disbursedBy: 'Achieng Otieno',
  });
});

test('a record of a successful payout says that the loan is disbursed, when and by whom', () => {
  expect(payoutFrom(disbursementRecord())).toMatchObject({
    loanStatus: 'disbursed',
    disbursedAt: '2026-11-14T09:30:02.000Z',
    disbursedBy: 'Achieng Otieno',
  });
});

test('a record of a failed or pending payout says nothing about the loan', () => {
  for (const status of ['FAILED', 'PENDING'] as const)
    expect(payoutFrom(disbursementRecord({ status }))).toMatchObject({
      loanStatus: null,
      disbursedAt: null,
      disbursedBy: null,
    });
});

test('a response without a status has the default status', () => {
  expect(payoutFrom({}, 'success')).toMatchObject({ status: 'success', loanStatus: null, reference: null });
  expect(payoutFrom({}, 'pending')).toMatchObject({ status: 'pending' });
  expect(payoutFrom({ status: 'PENDING' }, 'success')).toMatchObject({ status: 'pending' });
});
