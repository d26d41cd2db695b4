import classes from './Spinner.module.css';
import { uiTexts } from './ui-texts';

/** A spinner that appears after 150 ms, so that a quick answer shows none; with a label, that is shown below it. */
export function Spinner({ label }: { label?: string | undefined }) {
  return (
    <div className={classes.spinner} role="status" aria-label={label ? undefined : uiTexts().loading}>
      <span className={classes.ring} aria-hidden="true" />
      {label ? <span>{label}</span> : null}
    </div>
  );
}
