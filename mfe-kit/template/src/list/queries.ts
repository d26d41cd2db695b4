import { queryOptions } from '@tanstack/react-query';
import { api, listOf, queryKeys } from 'mfe-kit';

/** The pending loans. The key starts with the shared one, so that a payout refreshes this query too. */
export const pendingLoansQuery = () =>
  queryOptions({
    queryKey: [...queryKeys.pendingLoans, 'sample'],
    queryFn: ({ signal }) => listOf(api.GET('/api/v1/disbursements/pending', { signal })),
  });
