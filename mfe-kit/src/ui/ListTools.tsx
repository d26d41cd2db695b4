import type { ReactNode } from 'react';
import classes from './ListTools.module.css';

interface ListToolsProps {
  search: ReactNode;
  filter: ReactNode;
  /** Buttons after them. */
  children?: ReactNode;
}

/** The search box and the filter above a list; the search box is on its own line on narrow screens. */
export function ListTools({ search, filter, children }: ListToolsProps) {
  return (
    <div className={classes.tools}>
      <div className={classes.search}>{search}</div>
      <div className={classes.filter}>{filter}</div>
      {children}
    </div>
  );
}
