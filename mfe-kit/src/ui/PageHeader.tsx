import type { ReactNode } from 'react';
import { tabTitle } from 'mfe-kit';
import classes from './PageHeader.module.css';

interface PageHeaderProps {
  /** The page's one h1, and the start of the window's title. */
  title: string;
  /** Drawn below the title in grey, such as a count. */
  subtitle?: ReactNode;
  /** Drawn left of the title, such as a back button. */
  before?: ReactNode;
  /** Drawn right of the title, such as a status. */
  after?: ReactNode;
  /** The page's main action; full width on narrow screens. */
  action?: ReactNode;
}

/** The heading of a page, with what belongs beside it. */
export function PageHeader({ title, subtitle, before, after, action }: PageHeaderProps) {
  return (
    <div className={classes.head}>
      <title>{tabTitle(title)}</title>
      {before}
      <div className={classes.words}>
        <h1>{title}</h1>
        {subtitle ? <p className={classes.subtitle}>{subtitle}</p> : null}
      </div>
      {after}
      {action ? <div className={`links ${classes.action}`}>{action}</div> : null}
    </div>
  );
}
