import type { ReactNode } from 'react';
import { Icon } from './Icon';
import classes from './StatusTag.module.css';
import { type Tone, TONE_ICONS, toneClass } from './tone';
import { Tooltip } from './Tooltip';

interface StatusTagProps {
  tone: Tone;
  children: string;
  /** The reason for the status, shown on hover, focus or tap. */
  reason?: ReactNode;
}

/** A status as icon, word and tint. */
export function StatusTag({ tone, children, reason }: StatusTagProps) {
  const tag = (
    <span className={`${classes.tag} ${toneClass(tone)}`}>
      <Icon name={TONE_ICONS[tone]} size={15} />
      <span className={reason ? classes.explained : undefined}>{children}</span>
    </span>
  );
  return reason ? <Tooltip text={reason}>{tag}</Tooltip> : tag;
}
