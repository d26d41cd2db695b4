import { portalSettings } from 'mfe-kit';
import classes from './OutboxLink.module.css';

/** In a demo no email and no SMS is sent; this links to the page that shows the codes. */
export function OutboxLink() {
  const { demo, console } = portalSettings();
  if (!demo || !console) return null;
  return (
    <p className={classes.outbox}>
      Demo: codes arrive in the{' '}
      <a href={`${console}/console/outbox`} target="_blank" rel="noreferrer">
        outbox (opens in a new tab)
      </a>
    </p>
  );
}
