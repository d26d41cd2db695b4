import { formatDate, formatMoney, groupDigits, localPhone } from 'mfe-kit';
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
import { type ReactNode, useState } from 'react';
import { type Location, useLocation, useNavigate } from 'react-router';
import { type Loan, termOf, withPayout } from '../loan/loan';
import { useDisburse } from '../payout/disburse';
import { DisburseDialog } from '../payout/DisburseDialog';
import classes from './LoanDetailsPage.module.css';
import { loanStatus } from './loan-status';

const DAY_MS = 86_400_000;
const DUE_AFTER_DAYS = 30;

/** A loan that the page before handed over, and paying it out. */
export default function LoanDetailsPage() {
  const { state } = useLocation() as Location<{ loan?: Loan } | null>;
  const navigate = useNavigate();
  const loan = state?.loan;
  if (!loan) {
    return (
      <FailedState
        message="Loan not found"
        action={<Button onClick={() => void navigate('/pending-loans')}>Back to Loans</Button>}
      />
    );
  }
  return <LoanDetails key={loan.id} given={loan} />;
}

function LoanDetails({ given }: { given: Loan }) {
  const navigate = useNavigate();
  const payout = useDisburse();
  const [loan, setLoan] = useState(given);
  const [isPaidOut, setPaidOut] = useState(false);
  const [isDialogOpen, setDialogOpen] = useState(false);
  const status = loanStatus(loan.status);

  if (payout.isPending && !isDialogOpen) return <LoadingState label="Processing disbursement..." />;

  // What the answer says is taken over here, where the page outlives the dialog.
  if (payout.data && loan.mpesaReference === given.mpesaReference && !isPaidOut) {
    setLoan(withPayout(loan, payout.data));
    setPaidOut(true);
  }

  return (
    <>
      <PageHeader
        title="Loan Details"
        before={
          <Button
            type="text"
            icon={<Icon name="back" />}
            aria-label="Back"
            onClick={() => void (window.history.length > 1 ? navigate(-1) : navigate('/pending-loans'))}
          />
        }
        after={<StatusTag tone={status.tone}>{status.label}</StatusTag>}
        action={
          loan.status === 'approved' ? (
            <Button type="primary" icon={<Icon name="send" />} onClick={() => setDialogOpen(true)}>
              Disburse Loan
            </Button>
          ) : null
        }
      />
      {isPaidOut ? (
        <div className={classes.banner}>
          <Note tone="good" title="Disbursement Successful">
            <p>{`The loan has been successfully disbursed to ${loan.customer.name}.`}</p>
            <p>An SMS notification has been sent to the customer.</p>
          </Note>
        </div>
      ) : null}
      <div className={classes.columns}>
        <CustomerCard loan={loan} />
        <div className={classes.stack}>
          <Card title="Loan Information">
            <dl className={classes.facts}>
              <Fact term="Loan Amount" isWide>
                <span className={classes.amount}>{formatMoney(loan.amount)}</span>
              </Fact>
              <Fact term="Term Length">{termOf(loan)}</Fact>
              <Fact term="Interest Rate">{`${loan.interestRate}%`}</Fact>
              <Fact term="Loan ID">
                {loan.id} <CopyButton text={loan.id} label="Copy loan ID" />
              </Fact>
              <Fact term="Purpose">{loan.purpose || 'N/A'}</Fact>
            </dl>
          </Card>
          <Card title="Approval Information">
            <dl className={classes.facts}>
              <Fact term="Approved Date">{formatDate(loan.approvedDate)}</Fact>
              <Fact term="Approved By">{loan.approvedBy || 'Supervisor'}</Fact>
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
        payout={payout}
        onClose={() => {
          setDialogOpen(false);
          if (!payout.isPending) payout.reset();
        }}
      />
    </>
  );
}

function CustomerCard({ loan: { customer, customerId } }: { loan: Loan }) {
  return (
    <Card title="Customer">
      <div className={classes.person}>
        <Avatar name={customer.name} large />
        <div>
          <strong>{customer.name}</strong>
          {customer.gender ? <small>{customer.gender}</small> : null}
        </div>
      </div>
      <dl className={classes.single}>
        <Fact term="Phone">
          {groupDigits(localPhone(customer.phoneNumber))}{' '}
          <CopyButton text={localPhone(customer.phoneNumber)} label="Copy phone number" />
        </Fact>
        <Fact term="National ID">{groupDigits(customer.nationalId)}</Fact>
        <Fact term="Customer ID">{customerId}</Fact>
      </dl>
    </Card>
  );
}

function DisbursementCard({ loan, date }: { loan: Loan; date: string }) {
  return (
    <Card title="Disbursement Information">
      <dl className={classes.facts}>
        <Fact term="Disbursed Date">{formatDate(date)}</Fact>
        <Fact term="M-Pesa Reference">{loan.mpesaReference || 'N/A'}</Fact>
        <Fact term="Disbursed By">{loan.disbursedBy || 'Agent'}</Fact>
        <Fact term="Due Date">{formatDate(new Date(Date.parse(date) + DUE_AFTER_DAYS * DAY_MS))}</Fact>
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
