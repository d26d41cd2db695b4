import { startOfDay } from 'mfe-kit';
import type { Loan } from '../loan/loan';
import type { Payout } from '../payout/payout';

/** An event in the life of a loan. */
export interface Activity {
  type: 'disbursement' | 'approval' | 'failed_disbursement';
  loanId: string;
  customerName: string;
  /** In KES. */
  amount: number;
  /** In RFC 3339. */
  date: string;
  status: string;
  errorMessage: string | null;
}

/** The dashboard's figures; amounts are in KES. */
export interface DashboardStats {
  pendingDisbursements: number;
  totalDisbursed: number;
  disbursedToday: number;
  disbursedThisWeek: number;
  pendingLoans: Loan[];
  recentActivities: Activity[];
}

const SHOWN_ACTIVITIES = 3;

/** The figures of the two lists at a time: today starts at midnight in the deployment's time zone, the week seven days before. */
export function statsOf(loans: Loan[], payouts: readonly Payout[], now: Date): DashboardStats {
  const today = startOfDay(now).getTime();
  const week = startOfDay(now, 7).getTime();
  const stats = { totalDisbursed: 0, disbursedToday: 0, disbursedThisWeek: 0 };
  for (const { status, amount, date } of payouts) {
    if (status !== 'success') continue;
    const time = Date.parse(date);
    stats.totalDisbursed += amount;
    if (time >= today) stats.disbursedToday += amount;
    if (time >= week) stats.disbursedThisWeek += amount;
  }
  return {
    ...stats,
    pendingDisbursements: loans.length,
    pendingLoans: loans,
    recentActivities: activitiesOf(loans, payouts),
  };
}

/** The latest payout, approval and failed payout, newest first. */
function activitiesOf(loans: readonly Loan[], payouts: readonly Payout[]): Activity[] {
  const paid = latest(payouts, (payout) => (payout.status === 'success' ? payout.date : ''));
  const failed = latest(payouts, (payout) => (payout.status === 'failed' ? payout.date : ''));
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

function activityOf(payout: Payout, type: Activity['type']): Activity {
  const { loanId, customerName, amount, date, status, errorMessage } = payout;
  return { type, loanId, customerName, amount, date, status, errorMessage };
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

/** The item with the latest date. Items with an invalid date are ignored. */
function latest<T>(items: readonly T[], dateOf: (item: T) => string): T | undefined {
  let best: T | undefined;
  let bestTime = -Infinity;
  for (const item of items) {
    const time = Date.parse(dateOf(item));
    if (time > bestTime) [best, bestTime] = [item, time];
  }
  return best;
}
