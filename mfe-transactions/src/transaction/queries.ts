import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from 'mfe-kit';
import { transactionFrom } from './transaction';

const MINUTE_MS = 60_000;

/** What was paid out, and what was tried. */
export function transactionsQuery() {
  return queryOptions({
    queryKey: ['transactions'],
    queryFn: async ({ signal }) => {
      const records = await dataOf(
        api.GET('/api/v1/disbursement-records', { signal }),
        'Failed to fetch transactions',
      );
      return records.map(transactionFrom);
    },
    staleTime: 5 * MINUTE_MS,
  });
}
