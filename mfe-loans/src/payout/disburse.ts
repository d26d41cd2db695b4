import { useMutation, useMutationState, useQuery } from '@tanstack/react-query';
import { api, ApiError, dataOf, queryClient, session } from 'mfe-kit';
import { useState } from 'react';
import type { Loan } from '../loan/loan';
import { type Payout, payoutFrom, type WirePayout } from './payout';
import { findPayout, payoutQuery } from './queries';

/** How long the provider keeps a key; until then the same key asks for the same payout. */
const KEY_KEPT_MS = 24 * 60 * 60 * 1000;

/** One payout to ask for. The same key asks for the same payout again; a new one asks for another. */
interface PayoutRequest {
  loan: Loan;
  idempotencyKey: string;
}

/** Paying one loan out, as its page and its dialog see it. */
export interface Disbursing {
  status: 'idle' | 'pending' | 'success' | 'error';
  /** What the provider says of the loan's payout, by whatever way it said so; `null` when it said nothing. */
  payout: Payout | null;
  error: Error | null;
  /** Whether a payout went out, or was accepted, while this page was there to see it. */
  isSeenThrough: boolean;
  /** Whether a payout that was accepted first was refused in the end. */
  isRefusedLater: boolean;
  /** Asks for the payout, unless one runs or nobody is signed in. */
  pay: () => void;
  /** Clears the result; what the provider said of the loan stays known. */
  dismiss: () => void;
}

/**
 * Pays a loan out. The attempts stand in the shared cache of mutations, not in the page, so that a
 * page that is left and entered again goes on where the payout is.
 */
export function useDisburse(loan: Loan): Disbursing {
  const mutationKey = ['disburse', loan.id];
  const attempts = useMutationState({
    filters: { mutationKey },
    select: ({ state }) => state as AttemptState,
  });
  const attempt = attempts.at(-1);
  const { mutate } = useMutation({
    mutationKey,
    mutationFn: disburse,
    gcTime: KEY_KEPT_MS,
    onSettled: readListsAnew,
  });

  // What had settled before the page was entered is known, but not news.
  const [enteredAt] = useState(() => (attempt?.status === 'pending' ? 0 : (attempt?.submittedAt ?? 0)));
  const [dismissedAt, setDismissedAt] = useState(enteredAt);

  const told = attempt ? payoutToldBy(attempt) : null;
  const isOutcomeUnknown = attempt?.status === 'error' && isUnknown(attempt.error);
  const isWatched = told
    ? told.status === 'pending'
    : isOutcomeUnknown || loan.disbursementStatus.toUpperCase() === 'PENDING';
  const { data: watched } = useQuery({
    ...payoutQuery(loan.id, told?.id),
    enabled: isWatched && attempt?.status !== 'pending',
  });
  const payout = (isWatched ? watched : null) ?? told;

  const isNews = attempt !== undefined && attempt.submittedAt > enteredAt;
  const isAccepted = attempt?.status === 'success' || (isOutcomeUnknown && payout !== null);
  const isRefusedLater = isAccepted && payout?.status === 'failed';
  const isDismissed = attempt === undefined || attempt.submittedAt <= dismissedAt;

  return {
    status: isDismissed ? 'idle' : isRefusedLater ? 'error' : isAccepted ? 'success' : attempt.status,
    payout: attempt?.status === 'pending' ? null : payout,
    error: attempt?.error ?? null,
    isSeenThrough: isNews && isAccepted && !isRefusedLater,
    isRefusedLater,
    pay() {
      // The cache knows at once; the page would hear of it too late to hold a second click.
      if (!session.state.user || queryClient.isMutating({ mutationKey }) > 0) return;
      mutate({ loan, idempotencyKey: keyFor(mutationKey) });
    },
    dismiss: () => setDismissedAt(attempt?.submittedAt ?? 0),
  };
}

interface AttemptState {
  status: Disbursing['status'];
  data: Payout | undefined;
  error: Error | null;
  submittedAt: number;
  variables: PayoutRequest | undefined;
}

/** Asked once: a payout is never repeated by itself, because the first request may have moved money. */
async function disburse({ loan, idempotencyKey }: PayoutRequest): Promise<Payout> {
  const { user } = session.state;
  if (!user) throw new Error('Nobody is signed in');
  const call = api.POST('/api/v1/disbursements/{loanId}/disburse', {
    params: { path: { loanId: loan.id }, header: { 'Idempotency-Key': `"${idempotencyKey}"` } },
    body: { agent_id: user.id, amount: loan.amount, phone_number: loan.customer.phoneNumber },
  });
  try {
    const answer = (await dataOf(call)) as WirePayout | undefined;
    const { response } = await call;
    return payoutFrom(answer ?? {}, response.status === 202 ? 'pending' : 'success');
  } catch (error) {
    if (!isUnknown(error)) throw error;
    // No answer is not a failure: the provider's records tell whether the payout exists.
    const payout = await findPayout(loan.id).catch(() => null);
    if (payout) return payout;
    throw error;
  }
}

/** A request without an answer may have moved money all the same, so the lists are read anew whatever came. */
function readListsAnew() {
  for (const key of ['pending-loans', 'dashboard', 'transactions'])
    void queryClient.invalidateQueries({ queryKey: [key] });
}

/** After a final refusal it is another attempt; as long as the outcome is unknown it has to be the same one. */
function keyFor(mutationKey: string[]): string {
  const last = queryClient.getMutationCache().findAll({ mutationKey }).at(-1)?.state as
    AttemptState | undefined;
  return (isUnknown(last?.error) && last?.variables?.idempotencyKey) || newKey();
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && (error.isOutcomeUnknown || error.code === 'idempotency_key_in_use');
}

/** 128 random bits; `crypto.randomUUID` is missing where the portal is served without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** A refusal tells of the payout that there is, such as one that somebody else made. */
function payoutToldBy({ data, error }: AttemptState): Payout | null {
  if (data) return data;
  const body = error instanceof ApiError ? error.body : undefined;
  if (typeof body !== 'object' || body === null || !('record' in body)) return null;
  return body.record ? payoutFrom(body.record) : null;
}
