import { type ReactNode, useId } from 'react';
import classes from './Card.module.css';

interface CardProps {
  /** The card's heading and accessible name; without it the card is a plain frame. */
  title?: string;
  /** Drawn at the right of the title. */
  action?: ReactNode;
  /** Without padding, for tables and lists. */
  flush?: boolean;
  children: ReactNode;
}

/** A framed part of a page. */
export function Card({ title, action, flush = false, children }: CardProps) {
  const id = useId();
  const body = flush ? children : <div className={classes.body}>{children}</div>;
  if (!title) return <div className={classes.card}>{body}</div>;
  return (
    <section className={classes.card} aria-labelledby={id}>
      <div className={classes.top}>
        <h2 id={id}>{title}</h2>
        {action ? <div className={`links ${classes.action}`}>{action}</div> : null}
      </div>
      {body}
    </section>
  );
}
