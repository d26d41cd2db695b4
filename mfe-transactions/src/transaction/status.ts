import type { PayoutStatus } from 'mfe-kit';
import type { Tone } from 'mfe-kit/ui';

/** The label and color of each status. */
export const STATUSES: Record<PayoutStatus, { label: string; tone: Tone }> = {
  success: { label: 'Successful', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  pending: { label: 'Pending', tone: 'wait' },
};
