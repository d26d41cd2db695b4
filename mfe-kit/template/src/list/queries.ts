import { queryOptions } from '@tanstack/react-query';
import { api, listOf, queryKeys } from 'mfe-kit';

/** The loans that wait to be paid out; its key begins as the others' do, so that a payout refreshes it too. */
export const pendingLoansQuery = () =>
  queryOptions({
    queryKey: [...queryKeys.pendingLoans, 'sample'],
    queryFn: ({ signal }) => listOf(api.GET('/api/v1/disbursements/pending', { signal })),
  });
