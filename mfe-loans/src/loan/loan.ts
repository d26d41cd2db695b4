import type { Schema } from 'mfe-kit';
import type { Payout } from '../payout/payout';

/** An approved loan as the screens use it. Amounts are KES, moments RFC 3339. */
export interface Loan {
  id: string;
  customerId: string;
  customer: {
    id: string;
    /** First and last name. */
    name: string;
    firstName: string;
    lastName: string;
    /** As the provider sent it; shown by `localPhone`. */
    phoneNumber: string;
    nationalId: string;
    nickname: string | null;
    gender: string | null;
    status: string;
  };
  customerAccount: {
    id: string;
    accountNumber: string;
    status: string;
    creditScore: number | null;
    riskLevel: string | null;
  };
  amount: number;
  /** Months. */
  term: number | null;
  /** Percent. */
  interestRate: number;
  purpose: string | null;
  /** The provider's status in lower case; only an `approved` loan can be paid out. */
  status: string;
  disbursementStatus: string;
  /** Empty where the provider gives none, as are all moments that follow. */
  approvedDate: string;
  approvedBy: string | null;
  approverName: string | null;
  approverEmail: string | null;
  remainingBalance: number;
  notes: string | null;
  disbursementDate: string | null;
  mpesaReference: string | null;
  disbursedBy: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A row of the pending list, of which any field may be missing; some providers tell of a payout in it too. */
export type WireLoan = Partial<Schema<'PendingLoan'>> &
  Partial<Pick<Schema<'Disbursement'>, 'disbursed_at' | 'disbursed_by' | 'mpesa_ref'>>;

/** A row of the pending list as a loan (REQ-346 to REQ-353). */
export function loanFrom(wire: WireLoan): Loan {
  return {
    id: wire.loan_id ?? '',
    customerId: wire.customer_id ?? '',
    customer: {
      id: wire.customer_id ?? '',
      name: fullName(wire.customer_first_name, wire.customer_last_name),
      firstName: wire.customer_first_name ?? '',
      lastName: wire.customer_last_name ?? '',
      phoneNumber: wire.customer_phone_number ?? '',
      nationalId: wire.customer_id_number ?? '',
      nickname: wire.customer_nickname ?? null,
      gender: wire.customer_gender ?? null,
      status: wire.customer_status ?? '',
    },
    customerAccount: {
      id: wire.customer_account_id ?? '',
      accountNumber: wire.account_number ?? '',
      status: wire.account_status ?? '',
      creditScore: wire.credit_score ?? null,
      riskLevel: wire.risk_level ?? null,
    },
    amount: numberFrom(wire.total_loan_amount),
    term: wire.term ?? null,
    interestRate: numberFrom(wire.interest_rate),
    purpose: wire.purpose ?? null,
    status: (wire.loan_status ?? '').toLowerCase(),
    disbursementStatus: wire.disbursement_status ?? '',
    approvedDate: wire.approved_at ?? '',
    approvedBy: wire.approver_name ?? null,
    approverName: wire.approver_name ?? null,
    approverEmail: wire.approver_email ?? null,
    remainingBalance: numberFrom(wire.remaining_balance),
    notes: wire.notes ?? null,
    disbursementDate: wire.disbursed_at ?? null,
    mpesaReference: wire.mpesa_ref ?? null,
    disbursedBy: wire.disbursed_by ?? null,
    createdAt: wire.loan_created_at ?? '',
    updatedAt: wire.loan_updated_at ?? '',
  };
}

/**
 * A loan after what the provider said of its payout. Only what it said changes (REQ-247); where
 * that is nothing new, the loan is the same object.
 */
export function withPayout(loan: Loan, payout: Payout | null): Loan {
  if (!payout) return loan;
  const told: Partial<Loan> = {
    status: payout.loanStatus ?? loan.status,
    disbursementStatus: payout.disbursementStatus ?? loan.disbursementStatus,
    disbursementDate: payout.disbursedAt ?? loan.disbursementDate,
    mpesaReference: payout.reference ?? loan.mpesaReference,
    disbursedBy: payout.disbursedBy ?? loan.disbursedBy,
  };
  const isNew = Object.entries(told).some(([field, value]) => loan[field as keyof Loan] !== value);
  return isNew ? { ...loan, ...told } : loan;
}

/** Months of the loan; 1 where the provider gives none (REQ-235). */
export function termOf(loan: Loan): string {
  const months = loan.term !== null && loan.term > 0 ? loan.term : 1;
  return `${months} ${months === 1 ? 'month' : 'months'}`;
}

/** First and last name as one. */
export function fullName(first: string | null | undefined, last: string | null | undefined): string {
  return `${first ?? ''} ${last ?? ''}`.trim();
}

/** An amount that may be missing, or be a decimal written as text, as some providers do. */
export function numberFrom(value: number | string | null | undefined): number {
  const number = Number(value ?? 0);
  return Number.isNaN(number) ? 0 : number;
}
