import type { ReactNode } from 'react';
import { Icon } from './Icon';
import classes from './Note.module.css';
import { type Tone, TONE_ICONS, toneClass } from './tone';

interface NoteProps {
  tone: Tone;
  title: string;
  children?: ReactNode;
}

/** A tinted block with a message that stays. Screen readers announce a bad one at once, others politely. */
export function Note({ tone, title, children }: NoteProps) {
  return (
    <div className={`${classes.note} ${toneClass(tone)}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={tone === 'bad' ? 'alert' : TONE_ICONS[tone]} />
      <div>
        <strong>{title}</strong>
        {children}
      </div>
    </div>
  );
}
