import type { Tone } from 'mfe-kit/ui';

const SHOWN: Record<string, { label: string; tone: Tone }> = {
  approved: { label: 'Approved, Pending Disbursement', tone: 'wait' },
  disbursed: { label: 'Disbursed', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
};

/** The label and color of a loan's status (REQ-225 to REQ-227); an unknown status is shown as it is. */
export function loanStatus(status: string): { label: string; tone: Tone } {
  return SHOWN[status] ?? { label: status || 'Unknown', tone: 'plain' };
}
