import { queryOptions } from '@tanstack/react-query';
import { api, listOf, now, queryClient, queryKeys } from 'mfe-kit';
import { pendingLoansQuery } from '../loan/queries';
import { payoutFrom } from '../payout/payout';
import { statsOf } from './stats';

const MINUTE_MS = 60_000;

/** The dashboard's figures, computed from the two lists. The pending list is shared with its own screen. */
export function dashboardQuery() {
  return queryOptions({
    queryKey: queryKeys.dashboard,
    queryFn: async ({ signal }) => {
      const [loans, records] = await Promise.all([
        queryClient.query({ ...pendingLoansQuery(), retry: false }),
        listOf(api.GET('/api/v1/disbursement-records', { signal })),
      ]);
      const payouts = records.map((record) => payoutFrom(record));
      return statsOf(loans, payouts, now());
    },
    staleTime: 2 * MINUTE_MS,
  });
}
