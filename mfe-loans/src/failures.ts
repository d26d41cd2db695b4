import type { FailureTexts } from 'mfe-kit';

/** The texts of failures in this slice (REQ-375). */
export const FAILURES = {
  payout: {
    reads: 'message',
    withoutText: 'Failed to disburse loan',
    otherwise: 'Disbursement failed. Please try again.',
  },
  dashboard: {
    reads: 'message',
    withoutText: 'Failed to fetch dashboard stats',
    otherwise: 'Failed to load dashboard data',
  },
  pendingLoans: {
    reads: 'message',
    withoutText: 'Failed to fetch pending disbursements',
    otherwise: 'Failed to load pending loans',
  },
} as const satisfies Record<string, FailureTexts>;
