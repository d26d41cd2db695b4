import { formatDate } from 'mfe-kit';
import { Card, CopyButton } from 'mfe-kit/ui';
import type { Loan } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import { Fact } from './Fact';
import classes from './LoanDetailsPage.module.css';

const DAY_MS = 86_400_000;
const DUE_AFTER_DAYS = 30;

/** The loan's payout and due date. */
export function DisbursementCard({ loan, date }: { loan: Loan; date: string }) {
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
