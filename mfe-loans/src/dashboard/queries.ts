import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, queryClient } from 'mfe-kit';
import { pendingLoansQuery } from '../loan/queries';
import { statsOf } from './stats';

const MINUTE_MS = 60_000;
const FAILURE = 'Failed to fetch dashboard stats';

/** The dashboard's figures, computed here from the two lists; the pending list is shared with its own screen. */
export function dashboardQuery() {
  return queryOptions({
    queryKey: ['dashboard'],
    queryFn: async ({ signal }) => {
      const [loans, records] = await Promise.all([
        queryClient.query({ ...pendingLoansQuery(), retry: false }),
        dataOf(api.GET('/api/v1/disbursement-records', { signal }), FAILURE),
      ]);
      return statsOf(loans, records, new Date());
    },
    staleTime: 2 * MINUTE_MS,
  });
}
