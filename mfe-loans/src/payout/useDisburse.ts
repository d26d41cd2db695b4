import { useMutation, useMutationState, useQuery } from '@tanstack/react-query';
import { ApiError, isLive, queryClient, session } from 'mfe-kit';
import { useReducer, useState } from 'react';
import type { Loan } from '../loan/loan';
import { type Attempt, disburse, isUnknown, KEY_LIFETIME_MS, newKey, unsettledKey } from './disburse';
import { type Payout, payoutFrom } from './payout';
import { openedWith, type PayoutEvent, payoutReducer, type PayoutState } from './payout-state';
import { payoutQuery, refreshLists } from './queries';

/** The payout of one loan, as its page and its dialog see it. */
export interface Disbursing {
  status: 'idle' | 'pending' | 'submitted' | 'success' | 'error';
  /** The loan's payout as last reported by the provider; `null` if none was reported. */
  payout: Payout | null;
  error: Error | null;
  /** The page's notice about the payout, shown until the page is left; `null` if there is none. */
  notice: 'submitted' | 'success' | 'failed' | null;
  /** The key of the last request while its outcome is not known. */
  idempotencyKey: string | undefined;
  /** Requests the payout, unless a request is pending, nobody is signed in, or the amount can't be read. */
  pay: () => void;
  /** Resets the dialog; the payout stays known. */
  dismiss: () => void;
}

const STATUSES: Record<PayoutState['name'], Disbursing['status']> = {
  unpaid: 'idle',
  requesting: 'pending',
  unknown: 'error',
  refused: 'error',
  submitted: 'submitted',
  paid: 'success',
  failed: 'error',
};

/** What navigation state remembers of a loan's payout when the page is loaded again. */
export interface RememberedPayout {
  /** The payout that was pending when the page was last seen. */
  payoutId?: string | undefined;
  /** The key of a request whose outcome was not known then. */
  idempotencyKey?: string | undefined;
}

/**
 * Pays out a loan, and follows the payout until it settles. The attempts are in the shared mutation
 * cache, so the page shows the current one when it is left and opened again.
 */
export function useDisburse(loan: Loan, { payoutId, idempotencyKey }: RememberedPayout): Disbursing {
  const mutationKey = ['disburse', loan.id];
  const attempts = useMutationState({
    filters: { mutationKey },
    select: ({ state }) => state as Attempt,
  });
  const attempt = attempts.at(-1);
  const [state, dispatch] = useReducer(payoutReducer, null, () =>
    openedWith(!attempt && idempotencyKey ? INTERRUPTED : eventOf(attempt), loan, isLive()),
  );
  const isFollowed = state.follows !== 'none';
  const knownId = state.response.payout?.id || (state.opened.wasPending ? payoutId : undefined);
  const { data } = useQuery({
    ...payoutQuery(loan.id, knownId, state.follows === 'expected'),
    enabled: isFollowed,
  });
  const record = isFollowed ? (data ?? null) : null;
  const interruptedKey = state.payout ? undefined : idempotencyKey;
  const unsettled = attempt ? unsettledKey(attempt) : interruptedKey;
  const status = state.isDismissed ? 'idle' : STATUSES[state.name];
  const { mutate } = useMutation({
    mutationKey,
    mutationFn: disburse,
    meta: { act: status === 'error' ? 'try again' : 'confirm a payout' },
    gcTime: KEY_LIFETIME_MS,
    onSettled: (response) => refreshLists(loan.id, response?.payout),
  });

  const [seen, setSeen] = useState(attempt);
  // Not by identity: the cache copies an attempt when it forgets an earlier one.
  if (attempt?.submittedAt !== seen?.submittedAt || attempt?.status !== seen?.status) {
    setSeen(attempt);
    dispatch(eventOf(attempt));
  } else if (record !== state.record) dispatch({ type: 'followed', record });

  return {
    status,
    payout: state.payout,
    error: state.error,
    notice: noticeOf(state),
    idempotencyKey: unsettled,
    pay() {
      // The cache is updated at once; the page would re-render too late to stop a second click.
      if (!session.state.user || queryClient.isMutating({ mutationKey }) > 0) return;
      const { amount } = loan;
      if (amount !== null) mutate({ loan, amount, idempotencyKey: unsettled ?? newKey() });
    },
    dismiss: () => dispatch({ type: 'dismissed' }),
  };
}

/** A request that the reload of the page cut off. */
const INTERRUPTED: PayoutEvent = {
  type: 'lost',
  error: new Error('The page was loaded again'),
  payout: null,
};

function noticeOf({ name, payout, follows, isNew, opened }: PayoutState): Disbursing['notice'] {
  const isFollowed = follows !== 'none';
  if (name === 'refused' && !isFollowed) return null;
  switch (payout?.status) {
    case 'pending':
      return 'submitted';
    case 'failed':
      // The dialog has said so.
      return name === 'refused' && follows === 'any' ? null : 'failed';
    case 'success':
      return isNew || (isFollowed && !opened.wasDisbursed) ? 'success' : null;
    case undefined:
      return null;
  }
}

function eventOf(attempt: Attempt | undefined): PayoutEvent {
  if (attempt?.data) return { type: 'accepted', ...attempt.data };
  if (attempt?.error) {
    const { error } = attempt;
    return { type: isUnknown(error) ? 'lost' : 'refused', error, payout: reportedPayout(error) };
  }
  return { type: attempt?.status === 'pending' ? 'requested' : 'none' };
}

/** The payout in an error response: the existing one, such as one made by another user. */
function reportedPayout(error: Error): Payout | null {
  const body = error instanceof ApiError ? error.body : undefined;
  if (typeof body !== 'object' || body === null || !('record' in body)) return null;
  return body.record ? payoutFrom(body.record) : null;
}
