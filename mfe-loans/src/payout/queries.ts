import { queryOptions } from '@tanstack/react-query';
import { api, listOf } from 'mfe-kit';
import { type Payout, payoutFrom } from './payout';

/** Records come newest first, and what is looked for here has only just happened. */
const NEWEST = 100;
const ASKED_EVERY_MS = 3000;

/** What became of a loan's latest payout, asked for again until it has settled. */
export function payoutQuery(loanId: string, payoutId?: string) {
  return queryOptions({
    queryKey: ['payout', loanId, payoutId ?? null],
    queryFn: ({ signal }) => findPayout(loanId, payoutId, signal),
    retry: false,
    refetchInterval: ({ state: { data } }) =>
      data?.status === 'success' || data?.status === 'failed' ? false : ASKED_EVERY_MS,
  });
}

/**
 * A loan's payout that has gone out or is under way, of which there is one at most; else the one of
 * the id given; else `null`. A payout that failed is told by its id alone: a loan may have older ones.
 */
export async function findPayout(
  loanId: string,
  payoutId?: string,
  signal?: AbortSignal,
): Promise<Payout | null> {
  const records = await listOf(
    api.GET('/api/v1/disbursement-records', {
      params: { query: { limit: NEWEST } },
      ...(signal ? { signal } : {}),
    }),
  );
  const payouts = records.filter((record) => record.loan_id === loanId).map((record) => payoutFrom(record));
  return (
    payouts.find(({ status }) => status !== 'failed') ??
    payouts.find(({ id }) => id !== '' && id === payoutId) ??
    null
  );
}
