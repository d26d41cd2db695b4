import { amountFrom, payoutStatus, type PayoutStatus, type Schema, textFrom, timeFrom } from 'mfe-kit';
import { fullName } from '../loan/loan';

/** One attempt to pay out a loan, from a record or from the response to the attempt. */
export interface Payout {
  id: string;
  loanId: string;
  customerName: string;
  /** In KES; `null` if it can't be read. */
  amount: number | null;
  status: PayoutStatus;
  /** When it was requested, in RFC 3339; empty if the provider sent none. */
  date: string;
  /** Mobile money's reference; `null` until the money has been sent. */
  reference: string | null;
  errorMessage: string | null;
  /** The loan's new status in lower case, if the provider reported one; a record implies it only once the money is sent. */
  loanStatus: string | null;
  disbursementStatus: string | null;
  disbursedAt: string | null;
  disbursedBy: string | null;
}

/** A record, or the response to a payout; any field may be missing or of another type. */
export type WirePayout = Partial<Schema<'Disbursement'>>;

/** Returns whether the payout has an id or loan; a record that can't be read is an empty row of its list. */
export function isReadable({ id, loanId }: Payout): boolean {
  return id !== '' || loanId !== '';
}

/** A payout from a record or a response. `defaultStatus` applies if the body has no status. */
export function payoutFrom(wire: WirePayout, defaultStatus: PayoutStatus = 'pending'): Payout {
  const isReported = (wire.status ?? null) !== null;
  const status = isReported ? payoutStatus(wire.status) : defaultStatus;
  const isMoneySent = isReported && status === 'success';
  return {
    id: textFrom(wire.id),
    loanId: textFrom(wire.loan_id),
    customerName: fullName(wire.customer_first_name, wire.customer_last_name),
    amount: amountFrom(wire.amount),
    status,
    date: timeFrom(wire.created_at),
    reference: textFrom(wire.mpesa_ref) || null,
    errorMessage: textFrom(wire.error_message) || null,
    loanStatus: textFrom(wire.loan_status).toLowerCase() || (isMoneySent ? 'disbursed' : null),
    disbursementStatus: textFrom(wire.disbursement_status) || textFrom(wire.status) || null,
    disbursedAt: timeFrom(wire.disbursed_at) || (isMoneySent ? timeFrom(wire.processed_at) || null : null),
    disbursedBy:
      textFrom(wire.disbursed_by) ||
      (isMoneySent ? fullName(wire.user_first_name, wire.user_last_name) || null : null),
  };
}
