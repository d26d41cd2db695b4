import { useEffect, useState } from 'react';
import classes from './Spinner.module.css';
import { uiTexts } from './ui-texts';

const SHOWN_AFTER_MS = 150;

/** A spinner that appears after 150 ms, so that a quick answer shows none; with a label, that is shown below it. */
export function Spinner({ label }: { label?: string | undefined }) {
  const [isShown, setShown] = useState(false);

  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);

  return (
    <div
      className={classes.spinner}
      role="status"
      aria-label={label ? undefined : uiTexts().loading}
      data-shown={isShown}
    >
      <span className={classes.ring} aria-hidden="true" />
      {label ? <span>{label}</span> : null}
    </div>
  );
}
