import type { FailureTexts } from 'mfe-kit';
import { loansTexts } from './loans-texts';

/** The texts of failures in this slice (REQ-375). */
export function failures() {
  const texts = loansTexts();
  return {
    payout: { reads: 'message', withoutText: texts.payoutNotSent, otherwise: texts.payoutFailed },
    dashboard: {
      reads: 'message',
      withoutText: texts.dashboardNotFetched,
      otherwise: texts.dashboardNotLoaded,
    },
    pendingLoans: {
      reads: 'message',
      withoutText: texts.pendingNotFetched,
      otherwise: texts.pendingNotLoaded,
    },
  } satisfies Record<string, FailureTexts>;
}
