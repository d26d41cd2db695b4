import { formatMoney } from 'mfe-kit';
import classes from './Amount.module.css';

/** An amount in KES, with a detail in gray below it. */
export function Amount({ kes, detail }: { kes: number | null; detail?: string }) {
  return (
    <>
      <span className={classes.amount}>{formatMoney(kes)}</span>
      {detail ? <small className={classes.detail}>{detail}</small> : null}
    </>
  );
}
