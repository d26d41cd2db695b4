import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, dataOf } from 'mfe-kit';
import { searchedTexts } from './searched-texts';
import { transactionFrom } from './transaction';

const MINUTE_MS = 60_000;
const FAILURE = 'Failed to fetch transactions';

/** What was paid out, and what was tried. */
export function transactionsQuery() {
  return queryOptions({
    queryKey: ['transactions'],
    queryFn: async ({ signal }) => {
      const records: unknown = await dataOf(api.GET('/api/v1/disbursement-records', { signal }), FAILURE);
      if (!Array.isArray(records)) throw new ApiError({ kind: 'malformed', message: FAILURE, body: records });
      const transactions = (records as Parameters<typeof transactionFrom>[0][]).map(transactionFrom);
      searchedTexts(transactions);
      return transactions;
    },
    staleTime: 5 * MINUTE_MS,
    // Comparing two lists of 100,000 records field by field costs more than drawing the new one.
    structuralSharing: false,
  });
}
