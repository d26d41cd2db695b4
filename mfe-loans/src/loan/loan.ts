import { amountFrom, isolated, numberFrom, type Schema, textFrom, timeFrom } from 'mfe-kit';
import { loansTexts } from '../loans-texts';

/** An approved loan as the screens use it. Amounts are in KES, times in RFC 3339. */
export interface Loan {
  /** Empty if the row could not be read; such a loan can't be opened. */
  id: string;
  customerId: string;
  customer: {
    id: string;
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
  /** `null` if it can't be read; such a loan can't be paid out. */
  amount: number | null;
  /** Months. */
  term: number | null;
  /** Percent. */
  interestRate: number | null;
  purpose: string | null;
  /** The provider's status in lower case; only an `approved` loan can be paid out. */
  status: string;
  disbursementStatus: string;
  /** Empty if the provider sent none, like all times below. */
  approvedDate: string;
  approvedBy: string | null;
  approverName: string | null;
  approverEmail: string | null;
  remainingBalance: number | null;
  notes: string | null;
  disbursementDate: string | null;
  mpesaReference: string | null;
  disbursedBy: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A row of the pending list; any field may be missing or of another type, and some providers add the payout's fields. */
export type WireLoan = Partial<Schema<'PendingLoan'>> &
  Partial<Pick<Schema<'Disbursement'>, 'disbursed_at' | 'disbursed_by' | 'mpesa_ref'>>;

/** A row of the pending list as a loan (REQ-346 to REQ-353). */
export function loanFrom(wire: WireLoan): Loan {
  return {
    id: textFrom(wire.loan_id),
    customerId: textFrom(wire.customer_id),
    customer: {
      id: textFrom(wire.customer_id),
      name: fullName(wire.customer_first_name, wire.customer_last_name),
      firstName: textFrom(wire.customer_first_name),
      lastName: textFrom(wire.customer_last_name),
      phoneNumber: textFrom(wire.customer_phone_number),
      nationalId: textFrom(wire.customer_id_number),
      nickname: textFrom(wire.customer_nickname) || null,
      gender: textFrom(wire.customer_gender) || null,
      status: textFrom(wire.customer_status),
    },
    customerAccount: {
      id: textFrom(wire.customer_account_id),
      accountNumber: textFrom(wire.account_number),
      status: textFrom(wire.account_status),
      creditScore: numberFrom(wire.credit_score) || null,
      riskLevel: textFrom(wire.risk_level) || null,
    },
    amount: amountFrom(wire.total_loan_amount),
    term: numberFrom(wire.term) || null,
    interestRate: amountFrom(wire.interest_rate),
    purpose: textFrom(wire.purpose) || null,
    status: textFrom(wire.loan_status).toLowerCase(),
    disbursementStatus: textFrom(wire.disbursement_status),
    approvedDate: timeFrom(wire.approved_at),
    approvedBy: textFrom(wire.approver_name) || null,
    approverName: textFrom(wire.approver_name) || null,
    approverEmail: textFrom(wire.approver_email) || null,
    remainingBalance: amountFrom(wire.remaining_balance),
    notes: textFrom(wire.notes) || null,
    disbursementDate: timeFrom(wire.disbursed_at) || null,
    mpesaReference: textFrom(wire.mpesa_ref) || null,
    disbursedBy: textFrom(wire.disbursed_by) || null,
    createdAt: timeFrom(wire.loan_created_at),
    updatedAt: timeFrom(wire.loan_updated_at),
  };
}

export function fullName(first: unknown, last: unknown): string {
  return `${textFrom(first)} ${textFrom(last)}`.trim();
}

/** The loan's term in months; 1 month if the provider sent none (REQ-235). */
export function termOf(loan: Loan): string {
  return loansTexts().months(loan.term !== null && loan.term > 0 ? loan.term : 1);
}

export function interestOf({ interestRate }: Loan): string {
  return interestRate === null ? loansTexts().missing : `${interestRate}%`;
}

/** Returns whether the loan has its id; a loan that can't be read is an empty row of its list. */
export function isReadable({ id }: Loan): boolean {
  return id !== '';
}

export function customerName(loan: Loan): string {
  return loan.customer.name || (isReadable(loan) ? loansTexts().missing : loansTexts().unreadable);
}

export function namedCustomer(loan: Loan): string {
  return isolated(customerName(loan));
}

/** Returns whether a payout of the loan was requested and has not settled. */
export function isInProgress({ disbursementStatus }: Loan): boolean {
  return disbursementStatus.toUpperCase() === 'PENDING';
}
