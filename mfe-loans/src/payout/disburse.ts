import { api, ApiError, dataOf, isLive, preferencesQuery, queryClient, sentPhone, session } from 'mfe-kit';
import type { Loan } from '../loan/loan';
import { type Payout, payoutFrom, type WirePayout } from './payout';
import { findPayout } from './queries';

/** The time for which the provider keeps an idempotency key, in milliseconds. */
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** One request for a payout. Requests with the same key are the same payout. */
interface PayoutRequest {
  loan: Loan;
  amount: number;
  idempotencyKey: string;
}

/** A response to the request: the payout, and whether the provider confirmed it or only accepted it. */
interface PayoutResponse {
  payout: Payout;
  isConfirmed: boolean;
}

export interface Attempt {
  status: 'idle' | 'pending' | 'success' | 'error';
  data: PayoutResponse | undefined;
  error: Error | null;
  submittedAt: number;
  variables: PayoutRequest | undefined;
}

const RETRY_AFTER_MS = 2000;

/**
 * Pays out. Only an outcome that is known not to have paid is followed by another attempt, if the deployment's
 * rules say so. Each attempt has a new key, which is kept in the request: if the last outcome is unknown, 'Try
 * Again' repeats that attempt and no earlier one. Nothing is sent after the session that confirmed: the next one in
 * this browser may be somebody else's.
 */
export async function disburse(request: PayoutRequest): Promise<PayoutResponse> {
  const { token } = session;
  let failure: unknown = new Error('The session that confirmed the payout has ended');
  const rules = isLive() ? await payoutRules() : null;
  for (let retries = rules?.auto_retry ? rules.retry_attempts : 0; ; retries -= 1) {
    if (session.token !== token) throw failure;
    try {
      return await send(request);
    } catch (error) {
      if (retries <= 0 || !isKnownUnpaid(error)) throw error;
      failure = error;
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
async function send({ loan, amount, idempotencyKey }: PayoutRequest): Promise<PayoutResponse> {
  const { user } = session.state;
  if (!user) throw new Error('Nobody is signed in');
  const call = api.POST('/api/v1/disbursements/{loanId}/disburse', {
    params: { path: { loanId: loan.id }, header: { 'Idempotency-Key': `"${idempotencyKey}"` } },
    body: { agent_id: user.id, amount, phone_number: sentPhone(loan.customer.phoneNumber) },
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

/** The key of a request whose outcome is not known: the next request repeats it. */
export function unsettledKey({ status, error, variables }: Attempt): string | undefined {
  return status === 'pending' || isUnknown(error) ? variables?.idempotencyKey : undefined;
}

export function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && (error.isOutcomeUnknown || error.code === 'idempotency_key_in_use');
}

/**
 * 128 random bits, for a request that repeats no other. `crypto.randomUUID` does not exist when the portal is served
 * without TLS.
 */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
