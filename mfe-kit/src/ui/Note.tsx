import type { ReactNode } from 'react';
import { Icon, type IconName } from './Icon';
import classes from './Note.module.css';

const ICONS = { good: 'success', bad: 'alert', info: 'info', wait: 'clock' } satisfies Record<
  string,
  IconName
>;

interface NoteProps {
  tone: keyof typeof ICONS;
  title: string;
  children?: ReactNode;
}

/** A tinted block with a message that stays; a bad one is announced at once, the others when it suits. */
export function Note({ tone, title, children }: NoteProps) {
  return (
    <div className={`${classes.note} ${classes[tone]}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={ICONS[tone]} />
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}
