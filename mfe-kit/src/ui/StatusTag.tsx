import { Icon, type IconName } from './Icon';
import classes from './StatusTag.module.css';

/** What is true of the money: paid, waits, failed; or nothing in particular. */
export type Tone = 'good' | 'wait' | 'bad' | 'plain';

const ICONS: Record<Tone, IconName> = { good: 'success', wait: 'clock', bad: 'failure', plain: 'info' };

/** A status as icon, word and tint. */
export function StatusTag({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`${classes.tag} ${classes[tone]}`}>
      <Icon name={ICONS[tone]} size={15} />
      {children}
    </span>
  );
}
