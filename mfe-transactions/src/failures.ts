import type { FailureTexts } from 'mfe-kit';
import { transactionsTexts } from './transactions-texts';

/** The texts of failures in this slice (REQ-375). */
export function failures() {
  const { notFetched, notLoaded } = transactionsTexts();
  return {
    transactions: { reads: 'message', withoutText: notFetched, otherwise: notLoaded },
  } satisfies Record<string, FailureTexts>;
}
