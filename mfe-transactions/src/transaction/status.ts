import type { PayoutStatus } from 'mfe-kit';
import type { Tone } from 'mfe-kit/ui';

export const TONES: Record<PayoutStatus, Tone> = { success: 'good', failed: 'bad', pending: 'wait' };
