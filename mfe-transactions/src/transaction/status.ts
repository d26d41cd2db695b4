import type { Tone } from 'mfe-kit/ui';
import type { TransactionStatus } from './transaction';

/** The label and color of each status. */
export const STATUSES: Record<TransactionStatus, { label: string; tone: Tone }> = {
  success: { label: 'Successful', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  pending: { label: 'Pending', tone: 'wait' },
};
