import { localPhone } from 'mfe-kit';
import { Avatar } from 'mfe-kit/ui';
import classes from './Customer.module.css';
import type { Loan } from './loan';

/** Who a loan is for, as a cell of a list. */
export function Customer({
  customer,
  isIdShown = false,
}: {
  customer: Loan['customer'];
  isIdShown?: boolean;
}) {
  return (
    <div className={classes.customer}>
      <Avatar name={customer.name} />
      <div>
        <strong>{customer.name}</strong>
        <small>{localPhone(customer.phoneNumber)}</small>
        {isIdShown ? <small>{`ID ${customer.nationalId}`}</small> : null}
      </div>
    </div>
  );
}
