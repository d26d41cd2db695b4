import { type PayoutStatus, searched } from 'mfe-kit';
import { countFilters, type FilteredFacts, type ListFilters, rowFilter } from 'mfe-kit/ui-data';
import type { Transaction } from '../transaction/transaction';
import { transactionsTexts } from '../transactions-texts';

export interface TransactionFilter {
  search: string;
  status: PayoutStatus | 'all';
  /** A type or 'all'. No control sets it; there is only one type so far (REQ-290). */
  type: string;
  /** None is set where the screens are the specified ones. */
  filters: ListFilters;
}

export function factsOf({ date, amount, approver_name, performedBy }: Transaction): Required<FilteredFacts> {
  const { supervisor, agent } = transactionsTexts();
  return {
    date,
    amount,
    approver: approver_name || supervisor,
    disburser: performedBy.username || agent,
  };
}

/** The transactions that match search, status, type and filters, in the original order (REQ-287 to REQ-289). */
export function selectTransactions(
  transactions: readonly Transaction[],
  { search, status, type, filters }: TransactionFilter,
): readonly Transaction[] {
  const text = searched(search);
  const passes = rowFilter(filters);
  if (text === '' && status === 'all' && type === 'all' && passes === null) return transactions;
  return transactions.filter(
    (transaction) =>
      (status === 'all' || transaction.status === status) &&
      (type === 'all' || transaction.type === type) &&
      transaction.searchText.includes(text) &&
      (passes === null || passes(factsOf(transaction))),
  );
}

export function isFiltering({ search, status, type, filters }: TransactionFilter): boolean {
  return search.trim() !== '' || status !== 'all' || type !== 'all' || countFilters(filters) > 0;
}
