import {
  amountFrom,
  payoutStatus,
  type PayoutStatus,
  searched,
  type Schema,
  textFrom,
  timeFrom,
} from 'mfe-kit';
import { transactionsTexts } from '../transactions-texts';

/** A disbursement record as the screens use it. Amounts are in KES, times in RFC 3339. */
export interface Transaction {
  id: string;
  loanId: string;
  /** `null` if it can't be read. */
  amount: number | null;
  type: 'disbursement';
  status: PayoutStatus;
  date: string;
  /** Mobile money's receipt number; `mpesaRef` is the same. */
  reference: string | null;
  mpesaRef: string | null;
  transactionId: string;
  phone: string;
  errorMessage: string | null;
  processedAt: string | null;
  performedBy: { id: string; username: string; email: string; role: 'agent' };
  customer: { id: string; firstName: string; lastName: string; idNumber: string; phoneNumber: string };
  customer_first_name: string;
  customer_last_name: string;
  customer_phone_number: string;
  customer_id_number: string;
  approver_id: string | null;
  approver_name: string | null;
  approver_email: string | null;
  /**
   * What the search looks at: id, loan id, reference and the performer's username, as `searched` and on a line each, so
   * that no search matches across two of them. For 100,000 records, that takes too long at each keystroke.
   */
  searchText: string;
}

/** A record; other providers may leave out any field, or send another type. */
type Wire = { [Field in keyof Schema<'DisbursementRecord'>]?: Schema<'DisbursementRecord'>[Field] | null };

/** A record as a transaction (REQ-354 to REQ-361). */
export function transactionFrom(wire: Wire): Transaction {
  const reference = textFrom(wire.mpesa_ref) || null;
  const customer = {
    id: textFrom(wire.customer_id),
    firstName: textFrom(wire.customer_first_name),
    lastName: textFrom(wire.customer_last_name),
    idNumber: textFrom(wire.customer_id_number),
    phoneNumber: textFrom(wire.customer_phone_number),
  };
  const id = textFrom(wire.id);
  const loanId = textFrom(wire.loan_id);
  const username = `${textFrom(wire.user_first_name)} ${textFrom(wire.user_last_name)}`.trim();
  return {
    id,
    loanId,
    amount: amountFrom(wire.amount),
    type: 'disbursement',
    status: payoutStatus(wire.status),
    date: timeFrom(wire.created_at),
    reference,
    mpesaRef: reference,
    transactionId: textFrom(wire.transaction_id),
    phone: textFrom(wire.phone),
    errorMessage: textFrom(wire.error_message) || null,
    processedAt: timeFrom(wire.processed_at) || null,
    performedBy: {
      id: textFrom(wire.user_id),
      username,
      email: textFrom(wire.user_email),
      role: 'agent',
    },
    customer,
    customer_first_name: customer.firstName,
    customer_last_name: customer.lastName,
    customer_phone_number: customer.phoneNumber,
    customer_id_number: customer.idNumber,
    approver_id: textFrom(wire.approver_id) || null,
    approver_name: textFrom(wire.approver_name) || null,
    approver_email: textFrom(wire.approver_email) || null,
    searchText: [id, loanId, reference ?? '', username].map(searched).join('\n'),
  };
}

/** Returns whether the payout has an id or loan; a record that can't be read is an empty row of its list. */
export function isReadable({ id, loanId }: Transaction): boolean {
  return id !== '' || loanId !== '';
}

export function fullName({ firstName, lastName }: Transaction['customer']): string {
  return `${firstName} ${lastName}`.trim();
}

export function customerName(transaction: Transaction): string {
  const { missing, unreadable } = transactionsTexts();
  return fullName(transaction.customer) || (isReadable(transaction) ? missing : unreadable);
}
