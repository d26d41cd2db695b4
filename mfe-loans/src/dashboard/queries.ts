import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, listOf, queryClient } from 'mfe-kit';
import { pendingLoansQuery } from '../loan/queries';
import { payoutFrom } from '../payout/payout';
import { statsOf } from './stats';

const MINUTE_MS = 60_000;
const FAILURE = 'Failed to fetch dashboard stats';

/** The dashboard's figures, computed here from the two lists; the pending list is shared with its own screen. */
export function dashboardQuery() {
  return queryOptions({
    queryKey: ['dashboard'],
    queryFn: async ({ signal }) => {
      try {
        const [loans, records] = await Promise.all([
          queryClient.query({ ...pendingLoansQuery(), retry: false }),
          listOf(api.GET('/api/v1/disbursement-records', { signal }), FAILURE),
        ]);
        return statsOf(
          loans,
          records.map((record) => payoutFrom(record)),
          new Date(),
        );
      } catch (error) {
        throw asFailureOfStats(error);
      }
    },
    staleTime: 2 * MINUTE_MS,
  });
}

/** Whichever list was not to be had, it is the stats that failed (REQ-196), unless the server said more. */
function asFailureOfStats(error: unknown) {
  if (!(error instanceof ApiError) || error.serverText !== '') return error;
  return new ApiError({ kind: error.kind, status: error.status, message: FAILURE, cause: error });
}
