import type { IconName } from './Icon';
import classes from './tone.module.css';

/** The meaning of a tint: paid, waiting, failed, a hint, or nothing in particular. */
export type Tone = 'good' | 'wait' | 'bad' | 'info' | 'plain';

/** The class that gives a bordered part the colours of a tone. */
export const toneClass = (tone: Tone): string => classes[tone] ?? '';

export const TONE_ICONS: Record<Tone, IconName> = {
  good: 'success',
  wait: 'clock',
  bad: 'failure',
  info: 'info',
  plain: 'info',
};
