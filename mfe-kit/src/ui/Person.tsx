import { Avatar } from './Avatar';
import classes from './Person.module.css';

/** Whom a row of a list is about: initial, name, and lines in grey under it. */
export function Person({ name, details }: { name: string; details: readonly string[] }) {
  return (
    <div className={classes.person}>
      <Avatar name={name} />
      <div>
        <strong>{name}</strong>
        {details.map((detail) => (
          <small key={detail}>{detail}</small>
        ))}
      </div>
    </div>
  );
}
