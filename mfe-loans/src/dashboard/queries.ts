import { queryOptions } from '@tanstack/react-query';
import { api, listOf, queryClient, queryKeys } from 'mfe-kit';
import { pendingLoansQuery } from '../loan/queries';
import { payoutFrom } from '../payout/payout';

const MINUTE_MS = 60_000;

/** The two lists that the dashboard's figures are computed from. The pending list is shared with its own screen. */
export function dashboardQuery() {
  return queryOptions({
    queryKey: queryKeys.dashboard,
    queryFn: async ({ signal }) => {
      const [loans, records] = await Promise.all([
        queryClient.query({ ...pendingLoansQuery(), retry: false }),
        listOf(api.GET('/api/v1/disbursement-records', { signal }), ['id', 'loan_id']),
      ]);
      return { loans, payouts: records.map((record) => payoutFrom(record)) };
    },
    staleTime: 2 * MINUTE_MS,
    // Comparing two lists of 100,000 records field by field takes longer than adding the new one up.
    structuralSharing: false,
  });
}
