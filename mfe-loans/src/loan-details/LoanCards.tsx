import { formatDate, formatMoney, groupDigits, localPhone, startOfDay } from 'mfe-kit';
import { Avatar, Card, CopyButton } from 'mfe-kit/ui';
import type { ReactNode } from 'react';
import { customerName, interestOf, type Loan, termOf } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import classes from './LoanDetailsPage.module.css';

const DUE_AFTER_DAYS = 30;

/** What is known of a loan: its customer, its terms, its approval and its payout. */
export function LoanCards({ loan }: { loan: Loan }) {
  const texts = loansTexts();
  const { customer, disbursementDate: paidAt, mpesaReference } = loan;
  const phone = localPhone(customer.phoneNumber);
  const name = customerName(loan);
  return (
    <div className={classes.columns}>
      <Card title={texts.customer}>
        <div className={classes.person}>
          <Avatar name={name} large />
          <div>
            <strong>{name}</strong>
            {customer.gender ? <small>{customer.gender}</small> : null}
          </div>
        </div>
        <dl className={classes.single}>
          <Fact term={texts.phone}>
            {groupDigits(phone)} <CopyButton text={phone} label={texts.copyPhone} />
          </Fact>
          <Fact term={texts.nationalId}>{groupDigits(customer.nationalId) || texts.missing}</Fact>
          <Fact term={texts.customerId}>{loan.customerId}</Fact>
        </dl>
      </Card>
      <div className={classes.stack}>
        <Card title={texts.loanInformation}>
          <dl className={classes.facts}>
            <div className={classes.wide}>
              <dt className="detail">{texts.loanAmount}</dt>
              <dd>
                <span className={classes.amount}>{formatMoney(loan.amount)}</span>
              </dd>
            </div>
            <Fact term={texts.termLength}>{termOf(loan)}</Fact>
            <Fact term={texts.interestRate}>{interestOf(loan)}</Fact>
            <Fact term={texts.loanId}>
              {loan.id} <CopyButton text={loan.id} label={texts.copyLoanId} />
            </Fact>
            <Fact term={texts.purpose}>{loan.purpose || texts.missing}</Fact>
          </dl>
        </Card>
        <Card title={texts.approvalInformation}>
          <dl className={classes.facts}>
            <Fact term={texts.approvedDate}>{formatDate(loan.approvedDate)}</Fact>
            <Fact term={texts.approvedBy}>{loan.approvedBy || texts.supervisor}</Fact>
          </dl>
        </Card>
        {loan.status === 'disbursed' && paidAt ? (
          <Card title={texts.disbursementInformation}>
            <dl className={classes.facts}>
              <Fact term={texts.disbursedDate}>{formatDate(paidAt)}</Fact>
              <Fact term={texts.mpesaReference}>
                {mpesaReference || texts.missing}{' '}
                {mpesaReference ? (
                  <CopyButton text={mpesaReference} label={texts.copyMpesaReference} />
                ) : null}
              </Fact>
              <Fact term={texts.disbursedBy}>{loan.disbursedBy || texts.agent}</Fact>
              <Fact term={texts.dueDate}>{formatDate(dueDate(paidAt))}</Fact>
            </dl>
          </Card>
        ) : null}
      </div>
    </div>
  );
}

/** By the calendar: clocks may change meanwhile. */
function dueDate(paidAt: string): Date | null {
  const time = new Date(paidAt);
  return Number.isNaN(time.getTime()) ? null : startOfDay(time, -DUE_AFTER_DAYS);
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt className="detail">{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
