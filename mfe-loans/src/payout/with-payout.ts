import type { Loan } from '../loan/loan';
import type { Payout } from './payout';

/**
 * The loan, updated with what the provider reported about its payout. Only fields that were reported
 * change (REQ-247); if none differs, the same object is returned.
 */
export function withPayout(loan: Loan, payout: Payout | null): Loan {
  if (!payout) return loan;
  const reported: Partial<Loan> = {
    status: payout.loanStatus ?? loan.status,
    disbursementStatus: payout.disbursementStatus ?? loan.disbursementStatus,
    disbursementDate: payout.disbursedAt ?? loan.disbursementDate,
    mpesaReference: payout.reference ?? loan.mpesaReference,
    disbursedBy: payout.disbursedBy ?? loan.disbursedBy,
  };
  const isNew = Object.entries(reported).some(([field, value]) => loan[field as keyof Loan] !== value);
  return isNew ? { ...loan, ...reported } : loan;
}
