import { initialOf } from 'mfe-kit';
import classes from './Avatar.module.css';

/** The initial of a name in a circle. `large` is for the top of a card. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  return (
    <span className={large ? `${classes.avatar} ${classes.large}` : classes.avatar} aria-hidden="true">
      {initialOf(name)}
    </span>
  );
}
