import { useEffect, useState } from 'react';
import classes from './Spinner.module.css';
import { uiTexts } from './ui-texts';

const SHOWN_AFTER_MS = 150;

/** A spinner that appears after 150 ms, so that a quick answer shows none. `label` is its accessible name. */
export function Spinner({
  label = uiTexts().loading,
  isLabelShown = false,
}: {
  label?: string;
  isLabelShown?: boolean;
}) {
  const [isShown, setShown] = useState(false);

  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);

  return (
    <div
      className={classes.spinner}
      role="status"
      aria-label={isLabelShown ? undefined : label}
      data-shown={isShown}
    >
      <span className={classes.ring} aria-hidden="true" />
      {isLabelShown ? <span>{label}</span> : null}
    </div>
  );
}
