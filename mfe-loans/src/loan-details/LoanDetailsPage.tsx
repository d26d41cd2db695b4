import { useQuery } from '@tanstack/react-query';
import { formatDate, formatMoney, groupDigits, localPhone, preferencesQuery, useIsOnline } from 'mfe-kit';
import {
  Avatar,
  Button,
  Card,
  CopyButton,
  FailedState,
  Icon,
  LoadingState,
  Note,
  PageHeader,
  StatusTag,
} from 'mfe-kit/ui';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { type Location, useLocation, useNavigate } from 'react-router';
import { type Loan, termOf } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import { type Disbursing, useDisburse } from '../payout/disburse';
import { DisburseDialog } from '../payout/DisburseDialog';
import { withPayout } from '../payout/with-payout';
import classes from './LoanDetailsPage.module.css';
import { loanStatus } from './loan-status';

const DAY_MS = 86_400_000;
const DUE_AFTER_DAYS = 30;

/** The loan in navigation state, and its payout. */
export default function LoanDetailsPage() {
  const { state } = useLocation() as Location<{ loan?: Loan; payoutId?: string } | null>;
  const navigate = useNavigate();
  const loan = state?.loan;
  const texts = loansTexts();
  if (!loan) {
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
  return <LoanDetails key={loan.id} given={loan} payoutId={state.payoutId} />;
}

function LoanDetails({ given, payoutId }: { given: Loan; payoutId: string | undefined }) {
  const disbursing = useDisburse(given, payoutId);
  const loan = withPayout(given, disbursing.payout);
  const [isConfirming, setConfirming] = useState(false);
  const page = useRef<HTMLDivElement>(null);
  const isOnline = useIsOnline();
  const texts = loansTexts();
  // Without rules, as in a specified portal, nothing is too much and every payout is confirmed.
  const { maximum_amount: maximum = null, confirmation_required: isConfirmed = true } =
    useQuery(preferencesQuery()).data?.rules ?? {};
  const isTooMuch = maximum !== null && loan.amount > maximum;
  useSaveInNavigationState(given, loan, disbursing.payout?.id);

  // The dialog opens for a failure that happened after the page was left during the request.
  const isDialogOpen = isConfirming || disbursing.status === 'error';
  if (disbursing.status === 'pending' && !isDialogOpen)
    return (
      <>
        <PageHeader title={texts.loanDetails} />
        <LoadingState label={texts.processing} />
      </>
    );

  const isPayable = loan.status === 'approved' && (disbursing.payout?.status ?? 'failed') === 'failed';
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
              disabled={!isOnline}
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
      <div className={classes.columns}>
        <CustomerCard loan={loan} />
        <div className={classes.stack}>
          <LoanCard loan={loan} />
          <Card title={texts.approvalInformation}>
            <dl className={classes.facts}>
              <Fact term={texts.approvedDate}>{formatDate(loan.approvedDate)}</Fact>
              <Fact term={texts.approvedBy}>{loan.approvedBy || texts.supervisor}</Fact>
            </dl>
          </Card>
          {loan.status === 'disbursed' && loan.disbursementDate ? (
            <DisbursementCard loan={loan} date={loan.disbursementDate} />
          ) : null}
        </div>
      </div>
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

/** Moves focus to the notice about the payout, or to the page's heading if there is none. */
function focusNotice(page: HTMLElement | null) {
  const target = page?.querySelector<HTMLElement>('[data-notice]') ?? page?.querySelector('h1');
  target?.setAttribute('tabindex', '-1');
  target?.focus();
}

/**
 * Saves the updated loan in navigation state, so that a reload and Back show it instead of the loan
 * as it was before the payout.
 */
function useSaveInNavigationState(given: Loan, loan: Loan, payoutId: string | undefined) {
  const location = useLocation();
  const navigate = useNavigate();
  const save = useEffectEvent(() => {
    const state = { ...(location.state as object), loan, payoutId };
    void navigate(location, { replace: true, state, preventScrollReset: true });
  });
  useEffect(() => {
    if (loan !== given) save();
  }, [given, loan]);
}

function BackButton() {
  const { key } = useLocation();
  const navigate = useNavigate();
  // The first history entry of a visit has this key; the entry before it is another site.
  const hasHistory = key !== 'default';
  return (
    <Button
      type="text"
      icon={<Icon name="back" />}
      aria-label={loansTexts().back}
      onClick={() => void (hasHistory ? navigate(-1) : navigate('/pending-loans'))}
    />
  );
}

function LoanStatusTag({ status }: { status: string }) {
  const { label, tone } = loanStatus(status);
  return <StatusTag tone={tone}>{label}</StatusTag>;
}

/** The state of the payout, until the page is left. */
function PayoutNotice({ loan, disbursing: { payout, notice } }: { loan: Loan; disbursing: Disbursing }) {
  const texts = loansTexts();
  switch (notice) {
    case 'submitted':
      return (
        <Notice>
          <Note tone="wait" title={texts.inProgress}>
            <p>{texts.notConfirmedTo(loan.customer.name)}</p>
            <p>{texts.resultShowsHere}</p>
          </Note>
        </Notice>
      );
    case 'failed':
      return (
        <Notice>
          <Note tone="bad" title={texts.disbursementFailed}>
            <p>{payout?.errorMessage ?? texts.payoutIssue}</p>
          </Note>
        </Notice>
      );
    case 'success':
      return (
        <Notice>
          <Note tone="good" title={texts.successful}>
            <p>{texts.disbursedTo(loan.customer.name)}</p>
            <p>{texts.smsSent}</p>
          </Note>
        </Notice>
      );
    case null:
      return null;
  }
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <div className={classes.notice} data-notice>
      {children}
    </div>
  );
}

function LoanCard({ loan }: { loan: Loan }) {
  const texts = loansTexts();
  return (
    <Card title={texts.loanInformation}>
      <dl className={classes.facts}>
        <Fact term={texts.loanAmount} isWide>
          <span className={classes.amount}>{formatMoney(loan.amount)}</span>
        </Fact>
        <Fact term={texts.termLength}>{termOf(loan)}</Fact>
        <Fact term={texts.interestRate}>{`${loan.interestRate}%`}</Fact>
        <Fact term={texts.loanId}>
          {loan.id} <CopyButton text={loan.id} label={texts.copyLoanId} />
        </Fact>
        <Fact term={texts.purpose}>{loan.purpose || texts.missing}</Fact>
      </dl>
    </Card>
  );
}

function CustomerCard({ loan: { customer, customerId } }: { loan: Loan }) {
  const texts = loansTexts();
  return (
    <Card title={texts.customer}>
      <div className={classes.person}>
        <Avatar name={customer.name} large />
        <div>
          <strong>{customer.name}</strong>
          {customer.gender ? <small>{customer.gender}</small> : null}
        </div>
      </div>
      <dl className={classes.single}>
        <Fact term={texts.phone}>
          {groupDigits(localPhone(customer.phoneNumber))}{' '}
          <CopyButton text={localPhone(customer.phoneNumber)} label={texts.copyPhone} />
        </Fact>
        <Fact term={texts.nationalId}>{groupDigits(customer.nationalId) || texts.missing}</Fact>
        <Fact term={texts.customerId}>{customerId}</Fact>
      </dl>
    </Card>
  );
}

function DisbursementCard({ loan, date }: { loan: Loan; date: string }) {
  const texts = loansTexts();
  return (
    <Card title={texts.disbursementInformation}>
      <dl className={classes.facts}>
        <Fact term={texts.disbursedDate}>{formatDate(date)}</Fact>
        <Fact term={texts.mpesaReference}>
          {loan.mpesaReference || texts.missing}{' '}
          {loan.mpesaReference ? (
            <CopyButton text={loan.mpesaReference} label={texts.copyMpesaReference} />
          ) : null}
        </Fact>
        <Fact term={texts.disbursedBy}>{loan.disbursedBy || texts.agent}</Fact>
        <Fact term={texts.dueDate}>{formatDate(new Date(Date.parse(date) + DUE_AFTER_DAYS * DAY_MS))}</Fact>
      </dl>
    </Card>
  );
}

function Fact({ term, isWide = false, children }: { term: string; isWide?: boolean; children: ReactNode }) {
  return (
    <div className={isWide ? classes.wide : undefined}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
