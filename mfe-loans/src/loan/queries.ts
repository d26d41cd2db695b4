import { queryOptions } from '@tanstack/react-query';
import { api, listOf, queryKeys } from 'mfe-kit';
import { loanFrom } from './loan';

const MINUTE_MS = 60_000;

export function pendingLoansQuery() {
  return queryOptions({
    queryKey: queryKeys.pendingLoans,
    queryFn: async ({ signal }) => {
      const loans = await listOf(api.GET('/api/v1/disbursements/pending', { signal }), ['loan_id']);
      return loans.map(loanFrom);
    },
    staleTime: 2 * MINUTE_MS,
  });
}
