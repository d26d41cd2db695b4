import type { Schema } from 'mfe-kit';
import { fullName, numberFrom } from '../loan/loan';

/** One attempt to pay a loan out, as the provider tells of it in a record or in its answer to the attempt. */
export interface Payout {
  id: string;
  loanId: string;
  customerName: string;
  /** KES. */
  amount: number;
  status: 'success' | 'failed' | 'pending';
  /** When it was asked for, RFC 3339; empty where the provider does not say. */
  date: string;
  /** Mobile money's reference; there is none before the money went out. */
  reference: string | null;
  errorMessage: string | null;
  /** Where the provider says that the loan stands now, in lower case; a record tells only of money that went out. */
  loanStatus: string | null;
  disbursementStatus: string | null;
  /** When the money went out. */
  disbursedAt: string | null;
  /** The name of who paid out. */
  disbursedBy: string | null;
}

/** A record, or the answer to a payout, of which any field may be missing. */
export type WirePayout = Partial<Schema<'Disbursement'>>;

/** How a provider's words for a payout's status read on the screens (REQ-359 to REQ-361). */
export function payoutStatus(status: string): Payout['status'] {
  if (status === 'COMPLETED' || status === 'SUCCESS') return 'success';
  if (status === 'FAILED' || status === 'ERROR') return 'failed';
  return 'pending';
}

/** A record or an answer as a payout. `unstated` is its status where the body has none. */
export function payoutFrom(wire: WirePayout, unstated: Payout['status'] = 'pending'): Payout {
  const status = wire.status === undefined ? unstated : payoutStatus(wire.status);
  const hasMoneyGoneOut = wire.status !== undefined && status === 'success';
  return {
    id: wire.id ?? '',
    loanId: wire.loan_id ?? '',
    customerName: fullName(wire.customer_first_name, wire.customer_last_name),
    amount: numberFrom(wire.amount),
    status,
    date: wire.created_at ?? '',
    reference: wire.mpesa_ref || null,
    errorMessage: wire.error_message || null,
    loanStatus: wire.loan_status?.toLowerCase() ?? (hasMoneyGoneOut ? 'disbursed' : null),
    disbursementStatus: wire.disbursement_status ?? wire.status ?? null,
    disbursedAt: wire.disbursed_at ?? (hasMoneyGoneOut ? (wire.processed_at ?? null) : null),
    disbursedBy:
      wire.disbursed_by ??
      (hasMoneyGoneOut ? fullName(wire.user_first_name, wire.user_last_name) || null : null),
  };
}
