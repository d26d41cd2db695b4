import { useMutation } from '@tanstack/react-query';
import { api, dataOf, queryClient, type Schema, session } from 'mfe-kit';
import type { Loan } from '../loan/loan';

/** One payout to ask for. The same key asks for the same payout again; a new one asks for another. */
export interface PayoutRequest {
  loan: Loan;
  idempotencyKey: string;
}

/**
 * Pays a loan out. Asked once: a payout is never retried by itself. Whatever the answer, the lists
 * are read anew, for a request without an answer may have moved money all the same.
 */
export function useDisburse() {
  return useMutation({
    mutationKey: ['disburse'],
    mutationFn: disburse,
    onSettled: () =>
      Promise.all(
        ['pending-loans', 'dashboard', 'transactions'].map((key) =>
          // Only what is on screen is fetched at once.
          queryClient.invalidateQueries({ queryKey: [key] }),
        ),
      ),
  });
}

async function disburse({ loan, idempotencyKey }: PayoutRequest): Promise<Schema<'Disbursement'>> {
  const { user } = session.state;
  if (!user) throw new Error('Nobody is signed in');
  return dataOf(
    api.POST('/api/v1/disbursements/{loanId}/disburse', {
      params: { path: { loanId: loan.id }, header: { 'Idempotency-Key': `"${idempotencyKey}"` } },
      body: { agent_id: user.id, amount: loan.amount, phone_number: loan.customer.phoneNumber },
    }),
    'Failed to disburse loan',
  );
}
