import { queryOptions } from '@tanstack/react-query';
import { api, listOf, queryKeys } from 'mfe-kit';
import { transactionFrom } from './transaction';

const MINUTE_MS = 60_000;

/** All payouts, including failed and pending ones. */
export function transactionsQuery() {
  return queryOptions({
    queryKey: queryKeys.transactions,
    queryFn: async ({ signal }) => {
      const records = await listOf(api.GET('/api/v1/disbursement-records', { signal }), ['id', 'loan_id']);
      return records.map(transactionFrom);
    },
    staleTime: 5 * MINUTE_MS,
    // Comparing two lists of 100,000 records field by field takes longer than rendering the new one.
    structuralSharing: false,
  });
}
