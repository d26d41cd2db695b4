import { queryOptions } from '@tanstack/react-query';
import { api, listOf } from 'mfe-kit';
import { searchedTexts } from './searched-texts';
import { transactionFrom } from './transaction';

const MINUTE_MS = 60_000;

/** What was paid out, and what was tried. */
export function transactionsQuery() {
  return queryOptions({
    queryKey: ['transactions'],
    queryFn: async ({ signal }) => {
      const records = await listOf(api.GET('/api/v1/disbursement-records', { signal }));
      const transactions = records.map(transactionFrom);
      searchedTexts(transactions);
      return transactions;
    },
    staleTime: 5 * MINUTE_MS,
    // Comparing two lists of 100,000 records field by field costs more than drawing the new one.
    structuralSharing: false,
  });
}
