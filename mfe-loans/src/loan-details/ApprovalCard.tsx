import { formatDate } from 'mfe-kit';
import { Card } from 'mfe-kit/ui';
import type { Loan } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import { Fact } from './Fact';
import classes from './LoanDetailsPage.module.css';

/** When the loan was approved, and by whom. */
export function ApprovalCard({ loan }: { loan: Loan }) {
  const texts = loansTexts();
  return (
    <Card title={texts.approvalInformation}>
      <dl className={classes.facts}>
        <Fact term={texts.approvedDate}>{formatDate(loan.approvedDate)}</Fact>
        <Fact term={texts.approvedBy}>{loan.approvedBy || texts.supervisor}</Fact>
      </dl>
    </Card>
  );
}
