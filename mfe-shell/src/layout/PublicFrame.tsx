import type { ReactNode } from 'react';
import { Notices } from '../notices/Notices';
import classes from './PublicFrame.module.css';

/** What is around a page without the layout, which fills the window. */
export function PublicFrame({ children }: { children: ReactNode }) {
  return (
    <div className={classes.frame}>
      <div className={classes.notices}>
        <Notices />
      </div>
      {children}
    </div>
  );
}
