import { useQuery } from '@tanstack/react-query';
import { isLive, preferencesQuery, useIsOnline } from 'mfe-kit';
import {
  Button,
  Card,
  FailedState,
  Icon,
  LoadingState,
  Note,
  PageHeader,
  QueryStates,
  StatusTag,
} from 'mfe-kit/ui';
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { type Location, Navigate, useLocation, useNavigate, useParams } from 'react-router';
import { failures } from '../failures';
import type { Loan } from '../loan/loan';
import { pendingLoansQuery } from '../loan/queries';
import { loansTexts } from '../loans-texts';
import { DisburseDialog } from '../payout/DisburseDialog';
import { type RememberedPayout, useDisburse } from '../payout/useDisburse';
import { withPayout } from '../payout/with-payout';
import { LoanCards } from './LoanCards';
import classes from './LoanDetailsPage.module.css';
import { loanStatus } from './loan-status';
import { focusNotice, PayoutNotice } from './PayoutNotice';

/** The loan in navigation state, and its payout. Where the screens are live, a link alone is enough for a pending loan. */
export default function LoanDetailsPage() {
  const { state } = useLocation() as Location<({ loan?: Loan } & RememberedPayout) | null>;
  const loan = state?.loan;
  if (loan) return <LoanDetails key={loan.id} given={loan} remembered={state} />;
  return isLive() ? <ListedLoan /> : <LoanNotFound />;
}

function ListedLoan() {
  const { id } = useParams();
  const location = useLocation();
  return (
    <QueryStates
      query={useQuery(pendingLoansQuery())}
      failure={failures().pendingLoans}
      header={<PageHeader title={loansTexts().loanDetails} />}
    >
      {(loans) => {
        const loan = loans.find((listed) => listed.id === id);
        // In navigation state it stays when a payout takes it off the list.
        return loan ? <Navigate to={location} replace state={{ loan }} /> : <LoanNotFound />;
      }}
    </QueryStates>
  );
}

function LoanNotFound() {
  const navigate = useNavigate();
  const texts = loansTexts();
  return (
    <>
      <PageHeader title={texts.loanDetails} />
      <Card flush>
        <FailedState
          message={texts.loanNotFound}
          action={<Button onClick={() => void navigate('/pending-loans')}>{texts.backToLoans}</Button>}
        />
      </Card>
    </>
  );
}

function LoanDetails({ given, remembered }: { given: Loan; remembered: RememberedPayout }) {
  const disbursing = useDisburse(given, remembered);
  const loan = withPayout(given, disbursing.payout);
  const [isConfirming, setConfirming] = useState(false);
  const page = useRef<HTMLDivElement>(null);
  const isOnline = useIsOnline();
  const reasonId = useId();
  const texts = loansTexts();
  // Without rules, as in a specified portal, nothing is too much and every payout is confirmed.
  const { maximum_amount: maximum = null, confirmation_required: isConfirmed = true } =
    useQuery(preferencesQuery()).data?.rules ?? {};
  const isTooMuch = maximum !== null && loan.amount !== null && loan.amount > maximum;
  const { idempotencyKey } = disbursing;
  const isSaved = loan === given && idempotencyKey === remembered.idempotencyKey;
  useSaveInNavigationState(isSaved, { loan, payoutId: disbursing.payout?.id, idempotencyKey });

  const isPayable = loan.status === 'approved' && (disbursing.payout?.status ?? 'failed') === 'failed';
  // Somebody else has paid, or is paying: there is nothing left to confirm, and the page says so.
  if (isConfirming && disbursing.status === 'idle' && !isPayable) setConfirming(false);

  // The dialog opens for a failure that happened after the page was left during the request.
  const isDialogOpen = isConfirming || disbursing.status === 'error';
  if (disbursing.status === 'pending' && !isDialogOpen)
    return (
      <>
        <PageHeader title={texts.loanDetails} />
        <LoadingState label={texts.processing} />
      </>
    );

  const isAmountMissing = isPayable && loan.amount === null;
  return (
    <div ref={page}>
      <PageHeader
        title={texts.loanDetails}
        before={<BackButton />}
        after={<LoanStatusTag status={loan.status} />}
        action={
          isPayable ? (
            <Button
              type="primary"
              icon={<Icon name="send" />}
              disabled={!isOnline || isAmountMissing}
              aria-describedby={isAmountMissing ? reasonId : undefined}
              onClick={() => {
                setConfirming(true);
                if (!isConfirmed && !isTooMuch) disbursing.pay();
              }}
            >
              {texts.disburseLoan}
            </Button>
          ) : null
        }
      />
      <PayoutNotice loan={loan} disbursing={disbursing} />
      {isAmountMissing ? (
        <div className={classes.notice}>
          <Note tone="bad" title={texts.amountUnreadable}>
            <p id={reasonId}>{texts.notWithoutAmount}</p>
          </Note>
        </div>
      ) : null}
      <LoanCards loan={loan} />
      <DisburseDialog
        loan={loan}
        isOpen={isDialogOpen}
        disbursing={disbursing}
        isOffline={!isOnline}
        maximum={isTooMuch ? maximum : null}
        onClose={() => {
          setConfirming(false);
          disbursing.dismiss();
        }}
        onClosed={() => {
          // 'Disburse Loan' had focus before, and disappears once the loan is paid out.
          if (document.activeElement === document.body) focusNotice(page.current);
        }}
      />
    </div>
  );
}

/**
 * Saves the updated loan in navigation state, so that a reload and Back show it instead of the loan
 * as it was before the payout; and the key of a request that was sent, so that the page follows it.
 */
function useSaveInNavigationState(
  isSaved: boolean,
  { loan, payoutId, idempotencyKey }: { loan: Loan } & RememberedPayout,
) {
  const location = useLocation();
  const navigate = useNavigate();
  const save = useEffectEvent(() => {
    const state = { ...(location.state as object), loan, payoutId, idempotencyKey };
    void navigate(location, { replace: true, state, preventScrollReset: true });
  });
  useEffect(() => {
    if (!isSaved) save();
  }, [isSaved, loan, idempotencyKey]);
}

function BackButton() {
  const navigate = useNavigate();
  return (
    <Button
      type="text"
      icon={<Icon name="back" />}
      aria-label={loansTexts().back}
      onClick={() => void (hasHistory() ? navigate(-1) : navigate('/pending-loans'))}
    />
  );
}

/**
 * Returns whether the entry before in the browser's history is the portal's. The router numbers its entries from 0; unlike
 * the location's key, the number stays when an entry is replaced, as that of a loan opened by a link is.
 */
function hasHistory(): boolean {
  const { idx = 0 } = (window.history.state ?? {}) as { idx?: number };
  return idx > 0;
}

function LoanStatusTag({ status }: { status: string }) {
  const { label, tone } = loanStatus(status);
  return <StatusTag tone={tone}>{label}</StatusTag>;
}
