import { payoutStatus, type PayoutStatus, type Schema } from 'mfe-kit';

/** A disbursement record as the screens use it. Amounts are in KES, times in RFC 3339. */
export interface Transaction {
  id: string;
  loanId: string;
  amount: number;
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
}

/** A record; other providers may leave out any field. */
type Wire = { [Field in keyof Schema<'DisbursementRecord'>]?: Schema<'DisbursementRecord'>[Field] | null };

/** A record as a transaction (REQ-354 to REQ-361). */
export function transactionFrom(wire: Wire): Transaction {
  const reference = wire.mpesa_ref ?? null;
  const customer = {
    id: wire.customer_id ?? '',
    firstName: wire.customer_first_name ?? '',
    lastName: wire.customer_last_name ?? '',
    idNumber: wire.customer_id_number ?? '',
    phoneNumber: wire.customer_phone_number ?? '',
  };
  return {
    id: wire.id ?? '',
    loanId: wire.loan_id ?? '',
    amount: wire.amount ?? 0,
    type: 'disbursement',
    status: payoutStatus(wire.status),
    date: wire.created_at ?? '',
    reference,
    mpesaRef: reference,
    transactionId: wire.transaction_id ?? '',
    phone: wire.phone ?? '',
    errorMessage: wire.error_message ?? null,
    processedAt: wire.processed_at ?? null,
    performedBy: {
      id: wire.user_id ?? '',
      username: `${wire.user_first_name ?? ''} ${wire.user_last_name ?? ''}`.trim(),
      email: wire.user_email ?? '',
      role: 'agent',
    },
    customer,
    customer_first_name: customer.firstName,
    customer_last_name: customer.lastName,
    customer_phone_number: customer.phoneNumber,
    customer_id_number: customer.idNumber,
    approver_id: wire.approver_id ?? null,
    approver_name: wire.approver_name ?? null,
    approver_email: wire.approver_email ?? null,
  };
}
