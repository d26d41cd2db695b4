import { portalSettings } from 'mfe-kit';
import classes from './OutboxLink.module.css';

/** In a demo no mail and no SMS leaves the house: where to read the codes instead. */
export function OutboxLink() {
  if (!portalSettings().demo) return null;
  return (
    <p className={classes.outbox}>
      Demo: codes arrive in the{' '}
      <a href="/console/outbox" target="_blank" rel="noreferrer">
        outbox (opens in a new tab)
      </a>
    </p>
  );
}
