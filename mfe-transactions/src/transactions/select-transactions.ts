import type { PayoutStatus } from 'mfe-kit';
import { searchedTexts } from '../transaction/searched-texts';
import type { Transaction } from '../transaction/transaction';

/** The search and filters of the list. */
export interface TransactionFilter {
  search: string;
  status: PayoutStatus | 'all';
  /** A type or 'all'. No control sets it; there is only one type so far (REQ-290). */
  type: string;
}

/** The transactions that match search, status and type, in the original order (REQ-287 to REQ-289). */
export function selectTransactions(
  transactions: readonly Transaction[],
  { search, status, type }: TransactionFilter,
): readonly Transaction[] {
  const text = search.trim().toLowerCase();
  if (text === '' && status === 'all' && type === 'all') return transactions;
  const texts = text === '' ? [] : searchedTexts(transactions);
  return transactions.filter(
    (transaction, index) =>
      (status === 'all' || transaction.status === status) &&
      (type === 'all' || transaction.type === type) &&
      (text === '' || texts[index]?.includes(text)),
  );
}

/** Whether a search or filter is active. */
export function isFiltering({ search, status, type }: TransactionFilter): boolean {
  return search.trim() !== '' || status !== 'all' || type !== 'all';
}
