import { useMutation, useMutationState, useQuery } from '@tanstack/react-query';
import { api, ApiError, dataOf, preferencesQuery, isLive, queryClient, session } from 'mfe-kit';
import { useState } from 'react';
import type { Loan } from '../loan/loan';
import { type Payout, payoutFrom, type WirePayout } from './payout';
import { findPayout, payoutQuery, refreshLists } from './queries';

/** How long the provider keeps an idempotency key. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** One request for a payout. Requests with the same key are the same payout. */
interface PayoutRequest {
  loan: Loan;
  idempotencyKey: string;
}

/** A response to the request: the payout, and whether the provider confirmed it or only accepted it. */
interface PayoutResponse {
  payout: Payout;
  isConfirmed: boolean;
}

/** The payout of one loan, as its page and its dialog see it. */
export interface Disbursing {
  /** The state of the dialog. */
  status: 'idle' | 'pending' | 'submitted' | 'success' | 'error';
  /** The loan's payout as last reported by the provider; `null` if none was reported. */
  payout: Payout | null;
  error: Error | null;
  /** What the page says about the payout, until the page is left. */
  notice: 'submitted' | 'success' | 'failed' | null;
  /** Requests the payout, unless a request is pending or nobody is signed in. */
  pay: () => void;
  /** Resets the dialog; the payout stays known. */
  dismiss: () => void;
}

/**
 * Pays out a loan, and follows the payout until it settles. The attempts are in the shared mutation
 * cache, so the page shows the current one when it is left and opened again. `payoutId` is the payout
 * that was pending when the page was last seen.
 */
export function useDisburse(loan: Loan, payoutId?: string): Disbursing {
  const mutationKey = ['disburse', loan.id];
  const attempts = useMutationState({
    filters: { mutationKey },
    select: ({ state }) => state as AttemptState,
  });
  const attempt = attempts.at(-1);
  const { mutate } = useMutation({
    mutationKey,
    mutationFn: disburse,
    gcTime: KEY_LIFETIME_MS,
    onSettled: refreshLists,
  });

  // An attempt that had settled before the page was opened gets no banner.
  const [openedAt] = useState(() => (attempt?.status === 'pending' ? 0 : (attempt?.submittedAt ?? 0)));
  const [dismissedAt, setDismissedAt] = useState(openedAt);
  const [wasDisbursed] = useState(loan.status === 'disbursed');
  const [wasApproved] = useState(loan.status === 'approved');
  const [wasPending] = useState(loan.disbursementStatus.toUpperCase() === 'PENDING');

  const reported = attempt ? reportedPayout(attempt) : null;
  const isOutcomeUnknown = attempt?.status === 'error' && isUnknown(attempt.error);
  const isExpected = reported ? reported.status === 'pending' : isOutcomeUnknown || wasPending;
  // Somebody else may pay out the loan while the page is open.
  const isFollowed = isExpected || (isLive() && attempt === undefined && wasApproved);
  const { data: followed = null } = useQuery({
    ...payoutQuery(loan.id, reported?.id || (wasPending ? payoutId : undefined), isExpected),
    enabled: isFollowed && attempt?.status !== 'pending',
  });
  const payout = attempt?.status === 'pending' ? null : ((isFollowed ? followed : null) ?? reported);

  const isAccepted = attempt?.status === 'success' || (isOutcomeUnknown && payout !== null);
  const isPaid = payout?.status === 'success' || attempt?.data?.isConfirmed === true;
  const isDismissed = attempt === undefined || attempt.submittedAt <= dismissedAt;
  const isAttemptNew = attempt !== undefined && attempt.submittedAt > openedAt;

  function status(): Disbursing['status'] {
    if (isDismissed) return 'idle';
    if (!isAccepted) return attempt.status;
    if (payout?.status === 'failed') return 'error';
    return isPaid ? 'success' : 'submitted';
  }

  function notice(): Disbursing['notice'] {
    if (payout?.status === 'pending') return 'submitted';
    if (payout?.status === 'failed') return isAccepted || isFollowed ? 'failed' : null;
    if (!isPaid) return null;
    return (isAccepted && isAttemptNew) || (isFollowed && !wasDisbursed) ? 'success' : null;
  }

  return {
    status: status(),
    payout,
    error: attempt?.error ?? null,
    notice: notice(),
    pay() {
      // The cache is updated at once; the page would re-render too late to stop a second click.
      if (!session.state.user || queryClient.isMutating({ mutationKey }) > 0) return;
      mutate({ loan, idempotencyKey: keyFor(mutationKey) });
    },
    dismiss: () => setDismissedAt(attempt?.submittedAt ?? 0),
  };
}

interface AttemptState {
  status: 'idle' | 'pending' | 'success' | 'error';
  data: PayoutResponse | undefined;
  error: Error | null;
  submittedAt: number;
  variables: PayoutRequest | undefined;
}

/** Milliseconds before mobile money is asked again. */
const RETRY_AFTER_MS = 2000;

/**
 * Pays out. Only an outcome that is known not to have paid is followed by another attempt, if the deployment's
 * rules say so. Each attempt has a new key, which is kept in the request: if the last outcome is unknown, 'Try
 * Again' repeats that attempt and no earlier one.
 */
async function disburse(request: PayoutRequest): Promise<PayoutResponse> {
  const rules = isLive() ? await payoutRules() : null;
  for (let retries = rules?.auto_retry ? rules.retry_attempts : 0; ; retries -= 1) {
    try {
      return await send(request);
    } catch (error) {
      if (retries <= 0 || !isKnownUnpaid(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
      request.idempotencyKey = newKey();
    }
  }
}

/** The deployment's rules for payouts; `null` if there are none, or they can't be read. */
async function payoutRules() {
  const preferences = await queryClient.query({ ...preferencesQuery(), retry: false }).catch(() => null);
  return preferences?.rules ?? null;
}

/** Mobile money has refused the payment, and the payout has failed. */
function isKnownUnpaid(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'mobile_money_refused';
}

/** Sends one request, which may move money even if no response comes. */
async function send({ loan, idempotencyKey }: PayoutRequest): Promise<PayoutResponse> {
  const { user } = session.state;
  if (!user) throw new Error('Nobody is signed in');
  const call = api.POST('/api/v1/disbursements/{loanId}/disburse', {
    params: { path: { loanId: loan.id }, header: { 'Idempotency-Key': `"${idempotencyKey}"` } },
    body: { agent_id: user.id, amount: loan.amount, phone_number: loan.customer.phoneNumber },
  });
  try {
    const body = (await dataOf(call)) as WirePayout | undefined;
    const isConfirmed = (await call).response.status !== 202;
    return { payout: payoutFrom(body ?? {}, isConfirmed ? 'success' : 'pending'), isConfirmed };
  } catch (error) {
    if (!isUnknown(error)) throw error;
    // A missing response is not a failure: the provider's records show whether the payout exists.
    const payout = await findPayout(loan.id).catch(() => null);
    if (payout) return { payout, isConfirmed: false };
    throw error;
  }
}

/** The key for the next request: the same one while the outcome of the last is unknown, otherwise a new one. */
function keyFor(mutationKey: string[]): string {
  const last = queryClient.getMutationCache().findAll({ mutationKey }).at(-1)?.state as
    AttemptState | undefined;
  return (isUnknown(last?.error) && last?.variables?.idempotencyKey) || newKey();
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && (error.isOutcomeUnknown || error.code === 'idempotency_key_in_use');
}

/** 128 random bits. `crypto.randomUUID` does not exist when the portal is served without TLS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The payout in the response. An error response includes the existing one, such as one made by another user. */
function reportedPayout({ data, error }: AttemptState): Payout | null {
  if (data) return data.payout;
  const body = error instanceof ApiError ? error.body : undefined;
  if (typeof body !== 'object' || body === null || !('record' in body)) return null;
  return body.record ? payoutFrom(body.record) : null;
}
