import { searched } from 'mfe-kit';
import type { Transaction } from './transaction';

/** Separates the fields, so that no search matches across two of them. */
const SEPARATOR = '\n';

const textsOfLists = new WeakMap<readonly Transaction[], string[]>();

/**
 * The searched text of each transaction: id, loan id, reference and the performer's
 * username. It is computed once per list, because 100,000 records take too long at each keystroke, and
 * best when the list is read, so that the first keystroke is fast too.
 */
export function searchedTexts(transactions: readonly Transaction[]): string[] {
  const cached = textsOfLists.get(transactions);
  if (cached) return cached;
  const texts = transactions.map(({ id, loanId, reference, performedBy }) =>
    [id, loanId, reference ?? '', performedBy.username].map(searched).join(SEPARATOR),
  );
  textsOfLists.set(transactions, texts);
  return texts;
}
