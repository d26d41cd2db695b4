import { queryOptions } from '@tanstack/react-query';
import { api, listOf } from 'mfe-kit';
import { loanFrom } from './loan';

const MINUTE_MS = 60_000;

/** The approved loans that wait to be paid out. */
export function pendingLoansQuery() {
  return queryOptions({
    queryKey: ['pending-loans'],
    queryFn: async ({ signal }) => {
      const loans = await listOf(api.GET('/api/v1/disbursements/pending', { signal }));
      return loans.map(loanFrom);
    },
    staleTime: 2 * MINUTE_MS,
  });
}
