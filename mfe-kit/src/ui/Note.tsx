import type { ReactNode } from 'react';
import { Icon } from './Icon';
import classes from './Note.module.css';
import { RequestId } from './RequestId';
import { type Tone, TONE_ICONS, toneClass } from './tone';

interface NoteProps {
  tone: Tone;
  title: string;
  children?: ReactNode;
  /** The error that was thrown; the ID of its request is shown below, and not announced. */
  error?: unknown;
}

/** A tinted block with a message that stays. Screen readers announce a bad one at once, others politely. */
export function Note({ tone, title, children, error }: NoteProps) {
  return (
    <div className={`${classes.note} ${toneClass(tone)}`}>
      <Icon name={tone === 'bad' ? 'alert' : TONE_ICONS[tone]} />
      <div>
        <div role={tone === 'bad' ? 'alert' : 'status'}>
          <strong>{title}</strong>
          {children}
        </div>
        <RequestId of={error} />
      </div>
    </div>
  );
}
