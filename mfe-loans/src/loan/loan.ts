import type { Schema } from 'mfe-kit';
import { loansTexts } from '../loans-texts';
import { fullName, numberFrom } from './wire';

/** An approved loan as the screens use it. Amounts are in KES, times in RFC 3339. */
export interface Loan {
  id: string;
  customerId: string;
  customer: {
    id: string;
    /** First and last name. */
    name: string;
    firstName: string;
    lastName: string;
    /** As the provider sent it; `localPhone` formats it for display. */
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
  /** Empty if the provider sent none, like all times below. */
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

/** A row of the pending list; any field may be missing, and some providers add the payout's fields. */
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

/** The loan's term in months; 1 month if the provider sent none (REQ-235). */
export function termOf(loan: Loan): string {
  return loansTexts().months(loan.term !== null && loan.term > 0 ? loan.term : 1);
}
