import { isInProgress, type Loan } from '../loan/loan';
import type { Payout } from './payout';

export interface PayoutState {
  name: 'unpaid' | 'requesting' | 'unknown' | 'refused' | 'submitted' | 'paid' | 'failed';
  /** The loan's payout as last reported by the provider; `null` if none was reported. */
  payout: Payout | null;
  error: Error | null;
  /** The state according to the response alone; it applies while no record is found. */
  response: Pick<PayoutState, 'name' | 'payout'>;
  record: Payout | null;
  /** Which record is looked for: that of a payout known to exist or possible, any that somebody else makes, or none. */
  follows: 'expected' | 'any' | 'none';
  /** `true` if a request that was made or pending while the page was open may have made the payout. */
  isNew: boolean;
  isDismissed: boolean;
  opened: { isWatched: boolean; wasPending: boolean; wasDisbursed: boolean };
}

export type PayoutEvent =
  | { type: 'none' }
  | { type: 'requested' }
  | { type: 'accepted'; payout: Payout; isConfirmed: boolean }
  | { type: 'refused'; error: Error; payout: Payout | null }
  | { type: 'lost'; error: Error; payout: Payout | null }
  | { type: 'followed'; record: Payout | null }
  | { type: 'dismissed' };

/**
 * The state after an event.
 *
 * ```text
 *          requested                accepted
 *  unpaid ───────────▶ requesting ──────────────────────────▶ submitted, paid or failed
 *    │                  │      │                                  ▲    ▲      │    ▲
 *    │          refused │      │ lost                             │    │      └────┘
 *    │                  ▼      ▼             followed             │    │     followed
 *    │               refused  unknown ────────────────────────────┘    │
 *    │                                       followed                  │
 *    └─────────────────────────────────────────────────────────────────┘
 * ```
 *
 * 'requested' leads to `requesting` from every state; the next request after a lost one has its idempotency key.
 * 'followed' reports the loan's record; without a record, the state is what the response said. A request stays `refused`
 * even then: the record is a payout that somebody else made, and once that one is paid the dialog closes. After a payout
 * that failed, it closes once somebody else makes one. 'none' leads to `unpaid`: no request is remembered.
 * 'dismissed' closes the dialog and changes nothing else.
 */
export function payoutReducer(state: PayoutState, event: PayoutEvent): PayoutState {
  const { opened, response } = state;
  switch (event.type) {
    case 'none':
      return {
        ...responded(state, 'unpaid', null),
        follows: opened.wasPending ? 'expected' : followsAfter(null, opened),
        isNew: false,
        isDismissed: true,
      };
    case 'requested':
      return { ...responded(state, 'requesting', null), follows: 'none' };
    case 'accepted': {
      const { payout, isConfirmed } = event;
      return responded(state, outcomeOf(payout, isConfirmed), payout);
    }
    case 'lost': {
      const { payout, error } = event;
      if (payout) return { ...responded(state, outcomeOf(payout), payout), error };
      return { ...responded(state, 'unknown', null), error, follows: 'expected' };
    }
    case 'refused': {
      const { payout, error } = event;
      const refused = { ...responded(state, 'refused', payout), error, isNew: false };
      return payout || !opened.wasPending ? refused : { ...refused, follows: 'expected' };
    }
    case 'followed': {
      const { record } = event;
      if (!record) return { ...state, ...response, record };
      const name = response.name === 'refused' ? 'refused' : outcomeOf(record, response.name === 'paid');
      // After a payout that failed, one that has not is somebody else's.
      const isByOther =
        response.name === 'failed'
          ? record.status !== 'failed'
          : name === 'refused' && record.status === 'success';
      return { ...state, name, payout: record, record, isDismissed: state.isDismissed || isByOther };
    }
    case 'dismissed':
      return { ...state, isDismissed: true };
  }
}

/** The state of a page that has just been opened; `first` is what is known about the last request. */
export function openedWith(first: PayoutEvent, loan: Loan, isLive: boolean): PayoutState {
  const unpaid = { name: 'unpaid', payout: null } as const;
  const state = payoutReducer(
    {
      ...unpaid,
      error: null,
      response: unpaid,
      record: null,
      follows: 'none',
      isNew: false,
      isDismissed: true,
      opened: {
        // Somebody else may pay out the loan while the page is open.
        isWatched: isLive && loan.status === 'approved',
        wasPending: isInProgress(loan),
        wasDisbursed: loan.status === 'disbursed',
      },
    },
    first,
  );
  // A request that had settled before is not news.
  return first.type === 'requested' ? state : { ...state, isNew: false, isDismissed: true };
}

function responded(state: PayoutState, name: PayoutState['name'], payout: Payout | null): PayoutState {
  const response = { name, payout };
  return {
    ...state,
    ...response,
    response,
    error: null,
    record: null,
    follows: followsAfter(payout, state.opened),
    isNew: true,
    isDismissed: false,
  };
}

function followsAfter(payout: Payout | null, { isWatched }: PayoutState['opened']): PayoutState['follows'] {
  if (payout?.status === 'pending') return 'expected';
  return isWatched && payout?.status !== 'success' ? 'any' : 'none';
}

function outcomeOf({ status }: Payout, isConfirmed = false): PayoutState['name'] {
  if (status === 'failed') return 'failed';
  return status === 'success' || isConfirmed ? 'paid' : 'submitted';
}
