import { queryOptions } from '@tanstack/react-query';
import { api, listOf, queryClient, queryKeys, textFrom } from 'mfe-kit';
import { pendingLoansQuery } from '../loan/queries';
import { type Payout, payoutFrom } from './payout';

/** The number of records read first. They are sorted newest first, and the payout is a recent one. */
const RECENT_RECORDS = 100;
const POLL_INTERVAL_MS = 3000;

/** A loan's latest payout, polled until it settles; one that is not expected is polled once it is there. */
export function payoutQuery(loanId: string, payoutId: string | undefined, isExpected: boolean) {
  const queryKey = ['payout', loanId, payoutId ?? null];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }) => {
      const last = queryClient.getQueryData<Payout | null>(queryKey);
      const payout = await findPayout(loanId, payoutId ?? last?.id, signal);
      if (isSettled(payout) && !isSettled(last)) refreshLists(loanId, payout);
      return payout;
    },
    retry: false,
    refetchInterval: ({ state: { data } }) =>
      isSettled(data) || (!isExpected && !data) ? false : POLL_INTERVAL_MS,
  });
}

/**
 * The loan's successful or pending payout, of which there is at most one; otherwise the payout with
 * this id; otherwise `null`. A failed payout is found only by id, because a loan may have several.
 */
export async function findPayout(
  loanId: string,
  payoutId?: string,
  signal?: AbortSignal,
): Promise<Payout | null> {
  const recent = await readRecords({ limit: RECENT_RECORDS }, signal);
  const found = findIn(recent, loanId, payoutId);
  // On a busy day, the payout may no longer be among the recent ones. A loan that is still listed is not paid.
  if (found || recent.length < RECENT_RECORDS || (!payoutId && (await isListed(loanId)))) return found;
  return findIn(await readRecords({}, signal), loanId, payoutId);
}

/**
 * Marks the lists that a payout changes as outdated. It is done even if no response came: money may have moved. A loan
 * that is known to be paid leaves the list of pending loans at once, so that whoever goes there does not find it.
 */
export function refreshLists(loanId: string, payout: Payout | null | undefined): void {
  if (payout?.status === 'success') {
    const { queryKey } = pendingLoansQuery();
    queryClient.setQueryData(queryKey, (loans) => loans?.filter(({ id }) => id !== loanId));
  }
  for (const queryKey of [queryKeys.pendingLoans, queryKeys.dashboard, queryKeys.transactions])
    void queryClient.invalidateQueries({ queryKey });
}

async function isListed(loanId: string): Promise<boolean> {
  return (await queryClient.query(pendingLoansQuery())).some(({ id }) => id === loanId);
}

function readRecords(query: { limit?: number }, signal?: AbortSignal) {
  return listOf(
    api.GET('/api/v1/disbursement-records', { params: { query }, ...(signal ? { signal } : {}) }),
  );
}

function findIn(
  records: Awaited<ReturnType<typeof readRecords>>,
  loanId: string,
  payoutId?: string,
): Payout | null {
  const payouts = records
    .filter((record) => textFrom(record.loan_id) === loanId)
    .map((record) => payoutFrom(record));
  return (
    payouts.find(({ status }) => status !== 'failed') ??
    payouts.find(({ id }) => id !== '' && id === payoutId) ??
    null
  );
}

function isSettled(payout: Payout | null | undefined): boolean {
  return payout?.status === 'success' || payout?.status === 'failed';
}
