import { Icon, type IconName } from './Icon';
import classes from './StatusTag.module.css';
import { Tooltip } from './Tooltip';

/** What is true of the money: paid, waits, failed; or nothing in particular. */
export type Tone = 'good' | 'wait' | 'bad' | 'plain';

const ICONS: Record<Tone, IconName> = { good: 'success', wait: 'clock', bad: 'failure', plain: 'info' };

interface StatusTagProps {
  tone: Tone;
  children: string;
  /** Why it is so, shown on hover, focus or tap. */
  reason?: string | null;
}

/** A status as icon, word and tint. */
export function StatusTag({ tone, children, reason }: StatusTagProps) {
  const tag = (
    <span className={`${classes.tag} ${classes[tone]}`}>
      <Icon name={ICONS[tone]} size={15} />
      <span className={reason ? classes.explained : undefined}>{children}</span>
    </span>
  );
  return reason ? <Tooltip text={reason}>{tag}</Tooltip> : tag;
}
