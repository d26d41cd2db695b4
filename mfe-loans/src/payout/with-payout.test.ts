import { pendingLoan } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { loanFrom } from '../loan/loan';
import { payoutFrom } from './payout';
import { withPayout } from './with-payout';

const loan = loanFrom(pendingLoan());

test('REQ-247 a payout updates only what the provider reported', () => {
  const paid = withPayout(
    loan,
    payoutFrom({
      loan_status: 'DISBURSED',
      disbursement_status: 'COMPLETED',
      disbursed_at: '2026-11-14T09:30:02.000Z',
      disbursed_by: 'Achieng Otieno',
      mpesa_ref: 'UKE7Q2M9XA',
    }),
  );
  expect(paid).toEqual({
    ...loan,
    status: 'disbursed',
    disbursementStatus: 'COMPLETED',
    disbursementDate: '2026-11-14T09:30:02.000Z',
    mpesaReference: 'UKE7Q2M9XA',
    disbursedBy: 'Achieng Otieno',
  });
});

test('REQ-247 a payout without the loan’s fields leaves the loan unchanged', () => {
  expect(withPayout(loan, payoutFrom({}, 'success'))).toBe(loan);
  expect(withPayout(loan, null)).toBe(loan);
});
