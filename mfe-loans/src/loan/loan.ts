import type { Schema } from 'mfe-kit';

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

/** A row of the pending list as a loan (REQ-346 to REQ-353). */
export function loanFrom(wire: Schema<'PendingLoan'>): Loan {
  return {
    id: wire.loan_id,
    customerId: wire.customer_id,
    customer: {
      id: wire.customer_id,
      name: `${wire.customer_first_name} ${wire.customer_last_name}`.trim(),
      firstName: wire.customer_first_name,
      lastName: wire.customer_last_name,
      phoneNumber: wire.customer_phone_number,
      nationalId: wire.customer_id_number,
      nickname: wire.customer_nickname,
      gender: wire.customer_gender,
      status: wire.customer_status,
    },
    customerAccount: {
      id: wire.customer_account_id,
      accountNumber: wire.account_number,
      status: wire.account_status,
      creditScore: wire.credit_score,
      riskLevel: wire.risk_level,
    },
    amount: wire.total_loan_amount,
    term: wire.term ?? null,
    interestRate: wire.interest_rate,
    purpose: wire.purpose ?? null,
    status: wire.loan_status.toLowerCase(),
    disbursementStatus: wire.disbursement_status,
    approvedDate: wire.approved_at,
    approvedBy: wire.approver_name,
    approverName: wire.approver_name,
    approverEmail: wire.approver_email,
    remainingBalance: wire.remaining_balance,
    notes: wire.notes,
    disbursementDate: null,
    mpesaReference: null,
    disbursedBy: null,
    createdAt: wire.loan_created_at,
    updatedAt: wire.loan_updated_at,
  };
}

/** A loan after a payout: only what the provider said about it changes (REQ-247). */
export function withPayout(loan: Loan, answer: Schema<'Disbursement'>): Loan {
  return {
    ...loan,
    status: answer.loan_status.toLowerCase(),
    disbursementStatus: answer.disbursement_status,
    disbursementDate: answer.disbursed_at ?? loan.disbursementDate,
    mpesaReference: answer.mpesa_ref ?? loan.mpesaReference,
    disbursedBy: answer.disbursed_by ?? loan.disbursedBy,
  };
}

/** Months of the loan; 1 where the provider gives none (REQ-235). */
export function termOf(loan: Loan): string {
  const months = loan.term ?? 1;
  return `${months} ${months === 1 ? 'month' : 'months'}`;
}
