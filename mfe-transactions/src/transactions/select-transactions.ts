import type { Transaction, TransactionStatus } from '../transaction/transaction';

/** What the list is narrowed to, and which part of it is shown. */
export interface TransactionListState {
  search: string;
  status: TransactionStatus | 'all';
  /** Counted from 1. */
  page: number;
  pageSize: number;
}

/** The transactions that search and status let through (REQ-287 to REQ-289). */
export function selectTransactions(
  transactions: readonly Transaction[],
  { search, status }: Pick<TransactionListState, 'search' | 'status'>,
): readonly Transaction[] {
  const text = search.trim().toLowerCase();
  if (text === '' && status === 'all') return transactions;
  return transactions.filter(
    (transaction) =>
      (status === 'all' || transaction.status === status) && (text === '' || isFound(transaction, text)),
  );
}

function isFound({ id, loanId, reference, performedBy }: Transaction, text: string): boolean {
  return [id, loanId, reference, performedBy.username].some((value) => value?.toLowerCase().includes(text));
}
