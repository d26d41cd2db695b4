import { disbursementRecord, pendingLoan } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { loanFrom } from '../loan/loan';
import { payoutFrom } from './payout';
import { openedWith, type PayoutEvent, payoutReducer } from './payout-state';

const PENDING = payoutFrom(disbursementRecord({ status: 'PENDING', mpesa_ref: null }));
const FAILED = payoutFrom(disbursementRecord({ status: 'FAILED', mpesa_ref: null }));
const SENT = payoutFrom(disbursementRecord());
const NO_RESPONSE = new Error('No response');

/** The state of an approved loan's page after these events. */
const after = (...events: PayoutEvent[]) =>
  events.reduce(payoutReducer, openedWith({ type: 'none' }, loanFrom(pendingLoan()), false));

const accepted = (isConfirmed: boolean) => ({ type: 'accepted', payout: PENDING, isConfirmed }) as const;
const followed = (record: typeof SENT | null) => ({ type: 'followed', record }) as const;

test('a payout that its response confirmed is paid while its record is pending, until the record says it failed', () => {
  const confirmed = accepted(true);
  expect(after(confirmed)).toMatchObject({ name: 'paid', follows: 'expected' });
  expect(after(confirmed, followed(PENDING))).toMatchObject({ name: 'paid', payout: PENDING });
  expect(after(confirmed, followed(FAILED))).toMatchObject({ name: 'failed', payout: FAILED });
});

test('a refused request stays refused, whatever becomes of the payout that somebody else has made', () => {
  const refused = { type: 'refused', error: new Error('In progress'), payout: PENDING } as const;
  for (const record of [null, PENDING, FAILED, SENT])
    expect(after(refused, followed(record))).toMatchObject({
      name: 'refused',
      payout: record ?? PENDING,
      isNew: false,
    });
});

test('a record that is gone leaves what the response said', () => {
  const lost = { type: 'lost', error: NO_RESPONSE, payout: null } as const;
  for (const [event, name] of [
    [accepted(false), 'submitted'],
    [lost, 'unknown'],
  ] as const) {
    expect(after(event, followed(SENT)).name).toBe('paid');
    expect(after(event, followed(SENT), followed(null))).toMatchObject({
      name,
      payout: after(event).payout,
    });
  }
});

test('another request forgets the outcome, the error and the record of the last one', () => {
  const lost = { type: 'lost', error: NO_RESPONSE, payout: null } as const;
  expect(after(lost, followed(FAILED), { type: 'dismissed' }, { type: 'requested' })).toEqual(
    after({ type: 'requested' }),
  );
});
