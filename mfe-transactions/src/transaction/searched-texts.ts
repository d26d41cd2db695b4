import type { Transaction } from './transaction';

/** Stands between fields, so that no search finds the end of one with the start of the next. */
const BETWEEN = '\n';

const textsOfLists = new WeakMap<readonly Transaction[], string[]>();

/**
 * What search looks at, in lower case: id, loan id, reference and the performer's username. Made
 * once for a list, because 100,000 records are too many to do at each keystroke; best while the
 * list is read, so that not even the first keystroke waits for it.
 */
export function searchedTexts(transactions: readonly Transaction[]): string[] {
  const kept = textsOfLists.get(transactions);
  if (kept) return kept;
  const texts = transactions.map(({ id, loanId, reference, performedBy }) =>
    [id, loanId, reference ?? '', performedBy.username].join(BETWEEN).toLowerCase(),
  );
  textsOfLists.set(transactions, texts);
  return texts;
}
