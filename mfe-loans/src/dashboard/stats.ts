import { startOfDay } from 'mfe-kit';
import { isReadable as isLoanReadable, type Loan } from '../loan/loan';
import { isReadable as isPayoutReadable, type Payout } from '../payout/payout';

export interface Activity {
  type: 'disbursement' | 'approval' | 'failed_disbursement';
  loanId: string;
  /** Empty if the provider sent none. */
  customerName: string;
  /** In KES; `null` if it can't be read. */
  amount: number | null;
  /** In RFC 3339. */
  date: string;
  status: string;
  errorMessage: string | null;
}

/**
 * The figures of the two lists at a time, in KES: today starts at midnight in the deployment's time zone, the week seven
 * days before. Both end with today; the clock may have been set back since a payout. Rows that are not counted are
 * unreadable, and so are payouts whose amount the sums lack.
 */
export function statsOf(loans: Loan[], payouts: readonly Payout[], now: Date) {
  const today = startOfDay(now).getTime();
  const week = startOfDay(now, 7).getTime();
  const tomorrow = startOfDay(now, -1).getTime();
  const stats = { totalDisbursed: 0, disbursedToday: 0, disbursedThisWeek: 0, unreadablePayouts: 0 };
  for (const payout of payouts) {
    const { status, amount, date } = payout;
    const isCounted = isPayoutReadable(payout) && (status !== 'success' || amount !== null);
    if (!isCounted) stats.unreadablePayouts += 1;
    if (!isCounted || status !== 'success' || amount === null) continue;
    const time = Date.parse(date);
    stats.totalDisbursed += amount;
    if (time >= today && time < tomorrow) stats.disbursedToday += amount;
    if (time >= week && time < tomorrow) stats.disbursedThisWeek += amount;
  }
  const pendingLoans = loans.filter(isLoanReadable);
  return {
    ...stats,
    pendingDisbursements: pendingLoans.length,
    pendingLoans,
    unreadableLoans: loans.length - pendingLoans.length,
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
    .sort((a, b) => Date.parse(b.date) - Date.parse(a.date));
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
