import { groupDigits, localPhone } from 'mfe-kit';
import { Avatar, Card, CopyButton } from 'mfe-kit/ui';
import { customerName, type Loan } from '../loan/loan';
import { loansTexts } from '../loans-texts';
import { Fact } from './Fact';
import classes from './LoanDetailsPage.module.css';

/** Who borrowed, and the phone that the money goes to. */
export function CustomerCard({ loan }: { loan: Loan }) {
  const { customer, customerId } = loan;
  const name = customerName(loan);
  const texts = loansTexts();
  return (
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
          {groupDigits(localPhone(customer.phoneNumber))}{' '}
          <CopyButton text={localPhone(customer.phoneNumber)} label={texts.copyPhone} />
        </Fact>
        <Fact term={texts.nationalId}>{groupDigits(customer.nationalId) || texts.missing}</Fact>
        <Fact term={texts.customerId}>{customerId}</Fact>
      </dl>
    </Card>
  );
}
