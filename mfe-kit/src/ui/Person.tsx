import type { ReactNode } from 'react';
import { Avatar } from './Avatar';
import classes from './Person.module.css';

interface PersonProps {
  name: string;
  /** In grey below the name; an empty one is not drawn. */
  details: readonly string[];
  /** Drawn below the details, such as a status. */
  tag?: ReactNode;
}

/** The person of a table row: initial, name, and details in grey below. */
export function Person({ name, details, tag }: PersonProps) {
  return (
    <div className={classes.person}>
      <Avatar name={name} />
      <div>
        <strong>{name}</strong>
        {details.filter(Boolean).map((detail) => (
          <small key={detail}>{detail}</small>
        ))}
        {tag}
      </div>
    </div>
  );
}
