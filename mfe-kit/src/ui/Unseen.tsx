import type { ReactNode } from 'react';
import classes from './Unseen.module.css';

/** Text for assistive technology only. A status is announced when it changes. */
export function Unseen({ role, children }: { role?: 'status'; children: ReactNode }) {
  return (
    <span className={classes.unseen} role={role}>
      {children}
    </span>
  );
}
