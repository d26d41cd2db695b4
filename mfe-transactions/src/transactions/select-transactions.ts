import { searchedTexts } from '../transaction/searched-texts';
import type { Transaction, TransactionStatus } from '../transaction/transaction';

/** What the list is narrowed to. */
export interface TransactionFilter {
  search: string;
  status: TransactionStatus | 'all';
  /** A type or 'all'. No control offers it; so far there is one type (REQ-290). */
  type: string;
}

/** The transactions that search, status and type let through, in the order they came (REQ-287 to REQ-289). */
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

/** Whether anything is left out by a filter, or would be. */
export function isFiltering({ search, status, type }: TransactionFilter): boolean {
  return search.trim() !== '' || status !== 'all' || type !== 'all';
}
