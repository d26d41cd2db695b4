import type { ReactNode } from 'react';
import classes from './LoanDetailsPage.module.css';

/** A term and its value, in the list of a card. */
export function Fact({
  term,
  isWide = false,
  children,
}: {
  term: string;
  isWide?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={isWide ? classes.wide : undefined}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}
