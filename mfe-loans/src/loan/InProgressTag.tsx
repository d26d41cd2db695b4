import { StatusTag } from 'mfe-kit/ui';
import { loansTexts } from '../loans-texts';
import { isInProgress, type Loan } from './loan';

/** Says in a list that a payout of the loan has not settled yet. */
export function InProgressTag({ loan }: { loan: Loan }) {
  return isInProgress(loan) ? <StatusTag tone="wait">{loansTexts().payoutInProgress}</StatusTag> : null;
}
