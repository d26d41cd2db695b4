/** A payout's status on the screens. */
export type PayoutStatus = 'success' | 'failed' | 'pending';

/** The status of a record on the screens; a status that is missing or unknown is pending (REQ-359 to REQ-361). */
export function payoutStatus(status: unknown): PayoutStatus {
  if (status === 'COMPLETED' || status === 'SUCCESS') return 'success';
  if (status === 'FAILED' || status === 'ERROR') return 'failed';
  return 'pending';
}
