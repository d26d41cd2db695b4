import type { Schema } from 'mfe-kit';
import type { Loan } from '../loan/loan';

/** Something that happened to a loan. */
export interface Activity {
  type: 'disbursement' | 'approval' | 'failed_disbursement';
  loanId: string;
  customerName: string;
  amount: number;
  date: string;
  status: string;
  errorMessage: string | null;
}

/** The dashboard's figures; amounts are KES. */
export interface DashboardStats {
  pendingDisbursements: number;
  totalDisbursed: number;
  disbursedToday: number;
  disbursedThisWeek: number;
  pendingLoans: Loan[];
  recentActivities: Activity[];
}

type DisbursementRecord = Schema<'DisbursementRecord'>;

const SUCCEEDED = new Set(['COMPLETED', 'SUCCESS']);
const FAILED = new Set(['FAILED', 'ERROR']);
const SHOWN_ACTIVITIES = 3;

/** The figures of the two lists at a moment: today starts at local midnight, the week seven days before it. */
export function statsOf(loans: Loan[], records: readonly DisbursementRecord[], now: Date): DashboardStats {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const week = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 7);
  const paid = records.filter(({ status }) => SUCCEEDED.has(status));
  return {
    pendingDisbursements: loans.length,
    totalDisbursed: sum(paid),
    disbursedToday: sum(paid.filter(({ created_at }) => new Date(created_at) >= today)),
    disbursedThisWeek: sum(paid.filter(({ created_at }) => new Date(created_at) >= week)),
    pendingLoans: loans,
    recentActivities: activitiesOf(loans, records),
  };
}

function sum(records: readonly DisbursementRecord[]): number {
  return records.reduce((total, { amount }) => total + amount, 0);
}

/** The latest payout, the latest approval and the latest failure, newest first. */
function activitiesOf(loans: readonly Loan[], records: readonly DisbursementRecord[]): Activity[] {
  const paid = latest(
    records.filter(({ status }) => SUCCEEDED.has(status)),
    ({ created_at }) => created_at,
  );
  const failed = latest(
    records.filter(({ status }) => FAILED.has(status)),
    ({ created_at }) => created_at,
  );
  const approved = latest(loans, ({ approvedDate }) => approvedDate);
  return [
    paid && activityOf(paid, 'disbursement'),
    approved && approvalOf(approved),
    failed && activityOf(failed, 'failed_disbursement'),
  ]
    .filter((activity) => activity !== undefined)
    .sort((a, b) => Date.parse(b.date) - Date.parse(a.date))
    .slice(0, SHOWN_ACTIVITIES);
}

function activityOf(record: DisbursementRecord, type: Activity['type']): Activity {
  return {
    type,
    loanId: record.loan_id,
    customerName: `${record.customer_first_name} ${record.customer_last_name}`.trim(),
    amount: record.amount,
    date: record.created_at,
    status: record.status,
    errorMessage: record.error_message,
  };
}

function approvalOf(loan: Loan): Activity {
  return {
    type: 'approval',
    loanId: loan.id,
    customerName: loan.customer.name,
    amount: loan.amount,
    date: loan.approvedDate,
    status: loan.status,
    errorMessage: null,
  };
}

function latest<T>(items: readonly T[], dateOf: (item: T) => string): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) => (best === undefined || Date.parse(dateOf(item)) > Date.parse(dateOf(best)) ? item : best),
    undefined,
  );
}
