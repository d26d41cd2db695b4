import { Avatar } from './Avatar';
import classes from './Person.module.css';

/** The person of a table row: initial, name, and details in grey below. */
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
