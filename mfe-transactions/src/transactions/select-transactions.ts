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

/** Stands between fields, so that no search finds the end of one with the start of the next. */
const BETWEEN = '\n';

const textsOfLists = new WeakMap<readonly Transaction[], string[]>();

/**
 * What search looks at, in lower case: id, loan id, reference and the performer's username. Made
 * once for a list, because 100,000 records are too many to do at each keystroke.
 */
function searchedTexts(transactions: readonly Transaction[]): string[] {
  const kept = textsOfLists.get(transactions);
  if (kept) return kept;
  const texts = transactions.map(({ id, loanId, reference, performedBy }) =>
    [id, loanId, reference ?? '', performedBy.username].join(BETWEEN).toLowerCase(),
  );
  textsOfLists.set(transactions, texts);
  return texts;
}
