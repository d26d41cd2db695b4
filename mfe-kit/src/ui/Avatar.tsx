import { initialOf } from 'mfe-kit';
import classes from './Avatar.module.css';

/** The initial of a name in a circle. `large` is for the top of a card. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  return (
    // Drawn by the style sheet: as text, it would be part of the visible label of a button around it.
    <span
      className={large ? `${classes.avatar} ${classes.large}` : classes.avatar}
      data-initial={initialOf(name)}
      aria-hidden="true"
    />
  );
}
