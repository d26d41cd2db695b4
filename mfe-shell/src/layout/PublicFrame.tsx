import type { ReactNode } from 'react';
import { useWords } from '../navigation/useWords';
import { Notices } from '../notices/Notices';
import classes from './PublicFrame.module.css';

/** The frame of a page without the layout, which fills the viewport. */
export function PublicFrame({ children }: { children: ReactNode }) {
  useWords();
  return (
    <div className={classes.frame}>
      <div className={classes.notices}>
        <Notices />
      </div>
      {children}
    </div>
  );
}
