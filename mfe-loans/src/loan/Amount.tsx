import { formatMoney } from 'mfe-kit';
import classes from './Amount.module.css';

/** An amount of KES as the heaviest thing in its row, with what belongs to it underneath. */
export function Amount({ kes, detail }: { kes: number; detail?: string }) {
  return (
    <>
      <span className={classes.amount}>{formatMoney(kes)}</span>
      {detail ? <small className={classes.detail}>{detail}</small> : null}
    </>
  );
}
