import type { FailureTexts } from 'mfe-kit';

/** The texts of failures in this slice (REQ-375). */
export const FAILURES = {
  transactions: {
    reads: 'message',
    withoutText: 'Failed to fetch transactions',
    otherwise: 'Failed to load transactions',
  },
} as const satisfies Record<string, FailureTexts>;
