import { Card, CopyButton } from 'mfe-kit/ui';
import { formatMoney } from 'mfe-kit';
import { interestOf, type Loan, termOf } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import { Fact } from './Fact';
import classes from './LoanDetailsPage.module.css';

/** The amount, the terms and the purpose of the loan. */
export function LoanCard({ loan }: { loan: Loan }) {
  const texts = loansTexts();
  return (
    <Card title={texts.loanInformation}>
      <dl className={classes.facts}>
        <Fact term={texts.loanAmount} isWide>
          <span className={classes.amount}>{formatMoney(loan.amount)}</span>
        </Fact>
        <Fact term={texts.termLength}>{termOf(loan)}</Fact>
        <Fact term={texts.interestRate}>{interestOf(loan)}</Fact>
        <Fact term={texts.loanId}>
          {loan.id} <CopyButton text={loan.id} label={texts.copyLoanId} />
        </Fact>
        <Fact term={texts.purpose}>{loan.purpose || texts.missing}</Fact>
      </dl>
    </Card>
  );
}
