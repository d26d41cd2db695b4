import { portalSettings } from 'mfe-kit';
import { signInTexts } from '../sign-in-texts';
import classes from './OutboxLink.module.css';

/** In a demo no email and no SMS is sent; this links to the page that shows the codes. */
export function OutboxLink() {
  const { demo, console } = portalSettings();
  if (!demo || !console) return null;
  const texts = signInTexts();
  return (
    <p className={`detail ${classes.outbox}`}>
      {texts.demoCodes}{' '}
      <a href={`${console}/console/outbox`} target="_blank" rel="noreferrer">
        {texts.outbox}
      </a>
    </p>
  );
}
