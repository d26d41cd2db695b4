import type { Tone } from 'mfe-kit/ui';
import { loansTexts } from '../loans-texts';

const TONES = { approved: 'wait', disbursed: 'good', rejected: 'bad' } as const;

/** The label and color of a loan's status (REQ-225 to REQ-227); an unknown status is shown as it is. */
export function loanStatus(status: string): { label: string; tone: Tone } {
  const { status: texts } = loansTexts();
  if (Object.hasOwn(TONES, status)) {
    const known = status as keyof typeof TONES;
    return { label: texts[known], tone: TONES[known] };
  }
  return { label: status || texts.unknown, tone: 'plain' };
}
