import { session } from 'mfe-kit';
import {
  answer,
  disbursement,
  failure,
  pendingLoan,
  renderSlice,
  screen,
  unreachable,
} from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { loanFrom } from '../loan/loan';
import slice from '../slice';

const DISBURSE = '/api/v1/disbursements/{loanId}/disburse';

async function openDialog() {
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
  const loan = loanFrom(pendingLoan({ loan_id: 'LN-1' }));
  const drawn = renderSlice(slice, { pathname: '/loans/LN-1', state: { loan } });
  await drawn.user.click(await screen.findByRole('button', { name: 'Disburse Loan' }));
  await screen.findByRole('dialog', { name: 'Confirm Loan Disbursement' });
  return drawn;
}

test('REQ-222 without a loan from the page before, there is none', async () => {
  renderSlice(slice, '/loans/LN-1');
  expect(await screen.findByText('Loan not found')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Back to Loans' })).toBeVisible();
});

test('REQ-270 to REQ-272 confirming asks once for this loan, amount and phone, under a key', async () => {
  const received = answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
  const { user } = await openDialog();
  await user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  expect(await screen.findByText('Transaction ID: UKE7Q2M9XA')).toBeVisible();
  expect(received).toHaveLength(1);
  expect(received[0]?.body).toEqual({ agent_id: 1, amount: 25_000, phone_number: '+254712345678' });
  expect(received[0]?.headers.get('Idempotency-Key')).toMatch(/^"[0-9a-f-]{36}"$/);
  expect(screen.getByText('Disbursed')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
});

test('a payout without an answer is tried again under the same key, a refused one under a new key', async () => {
  unreachable('post', DISBURSE);
  const { user } = await openDialog();
  await user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  await screen.findByText('Failed to disburse loan');

  const refused = answer('post', DISBURSE, 422, failure('The balance is insufficient for the transaction.'));
  await user.click(screen.getByRole('button', { name: 'Try Again' }));
  await screen.findByText('The balance is insufficient for the transaction.');
  const paid = answer(
    'post',
    DISBURSE,
    202,
    disbursement({ mpesa_ref: null, loan_status: 'APPROVED', disbursed_at: null }),
  );
  await user.click(screen.getByRole('button', { name: 'Try Again' }));

  expect(await screen.findByText('Transaction ID: Pending...')).toBeVisible();
  const keys = [refused, paid].map(([request]) => request?.headers.get('Idempotency-Key'));
  expect(keys[0]).not.toBe(keys[1]);
});
