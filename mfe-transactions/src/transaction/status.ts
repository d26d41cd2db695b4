import type { PayoutStatus } from 'mfe-kit';
import type { Tone } from 'mfe-kit/ui';

/** The color of each status. */
export const TONES: Record<PayoutStatus, Tone> = { success: 'good', failed: 'bad', pending: 'wait' };
