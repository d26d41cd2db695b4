import { Note } from 'mfe-kit/ui';
import { type Loan, namedCustomer } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import type { Payout } from '../payout/payout';
import { Refusal } from '../payout/Refusal';
import type { Disbursing } from '../payout/useDisburse';
import classes from './LoanDetailsPage.module.css';

/** The state of the payout, until the page is left. */
export function PayoutNotice({ loan, disbursing }: { loan: Loan; disbursing: Disbursing }) {
  if (!disbursing.notice) return null;
  return (
    <div className={classes.notice} data-notice>
      {noteOn(disbursing.notice, loan, disbursing.payout)}
    </div>
  );
}

function noteOn(notice: NonNullable<Disbursing['notice']>, loan: Loan, payout: Payout | null) {
  const texts = loansTexts();
  switch (notice) {
    case 'submitted':
      return (
        <Note tone="wait" title={texts.inProgress}>
          <p>{texts.notConfirmedTo(namedCustomer(loan))}</p>
          <p>{texts.resultShowsHere}</p>
        </Note>
      );
    case 'failed':
      return (
        <Note tone="bad" title={texts.disbursementFailed}>
          <Refusal text={payout?.errorMessage ?? texts.payoutIssue} />
        </Note>
      );
    case 'success':
      return (
        <Note tone="good" title={texts.successful}>
          <p>{texts.disbursedTo(namedCustomer(loan))}</p>
          <p>{texts.smsSent}</p>
        </Note>
      );
  }
}

/** Moves focus to the notice about the payout, or to the page's heading if there is none. */
export function focusNotice(page: HTMLElement | null) {
  const target = page?.querySelector<HTMLElement>('[data-notice]') ?? page?.querySelector('h1');
  target?.setAttribute('tabindex', '-1');
  target?.focus();
}
