import type { Tone } from 'mfe-kit/ui';

const SHOWN: Record<string, { label: string; tone: Tone }> = {
  approved: { label: 'Approved, Pending Disbursement', tone: 'wait' },
  disbursed: { label: 'Disbursed', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
};

/** How a loan's status is shown (REQ-225 to REQ-227); one that nobody told us of is shown as it is. */
export function loanStatus(status: string): { label: string; tone: Tone } {
  return SHOWN[status] ?? { label: status || 'Unknown', tone: 'plain' };
}
