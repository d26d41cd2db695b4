import type { CSSProperties, ReactNode } from 'react';
import { Card } from './Card';
import classes from './Figure.module.css';
import { Icon, type IconName } from './Icon';

/** Figures side by side: four in a row, two below 768 px. */
export function Figures({ children }: { children: ReactNode }) {
  return <div className={classes.figures}>{children}</div>;
}

interface FigureProps {
  icon: IconName;
  title: string;
  value: string;
  /** Drawn below the value in grey. */
  note?: ReactNode;
}

/** A figure with its title. */
export function Figure({ icon, title, value, note }: FigureProps) {
  return (
    <Card>
      <dl className={classes.figure}>
        <dt>
          <Icon name={icon} />
          {title}
        </dt>
        <dd className={classes.value} style={{ '--length': value.length } as CSSProperties}>
          {value}
        </dd>
        {note ? <dd className={`detail ${classes.note}`}>{note}</dd> : null}
      </dl>
    </Card>
  );
}
