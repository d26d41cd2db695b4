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

const APPROVED = loanFrom(pendingLoan());
const IN_PROGRESS = loanFrom(pendingLoan({ disbursement_status: 'PENDING' }));
const DISBURSED = loanFrom(pendingLoan({ loan_status: 'DISBURSED' }));

test.for([
  ['approved, where the screens are as specified', APPROVED, false, 'none'],
  ['approved, where the screens are live', APPROVED, true, 'any'],
  ['in progress', IN_PROGRESS, false, 'expected'],
  ['in progress, where the screens are live', IN_PROGRESS, true, 'expected'],
  ['disbursed, where the screens are live', DISBURSED, true, 'none'],
] as const)('the page of a loan that is %s looks for its record as it must', ([, loan, isLive, follows]) => {
  const unpaid = { name: 'unpaid', payout: null };
  const opened = {
    isWatched: loan === DISBURSED ? false : isLive,
    wasPending: loan === IN_PROGRESS,
    wasDisbursed: loan === DISBURSED,
  };
  const page = openedWith({ type: 'none' }, loan, isLive);
  expect(page).toEqual({
    ...unpaid,
    error: null,
    response: unpaid,
    record: null,
    follows,
    isNew: false,
    isDismissed: true,
    opened,
  });
  // A request that is forgotten leaves nothing.
  expect(payoutReducer(payoutReducer(page, { type: 'requested' }), { type: 'none' })).toEqual(page);
});

test.for([
  [{ type: 'requested' }, { name: 'requesting', isNew: true, isDismissed: false, follows: 'none' }],
  [
    { type: 'accepted', payout: PENDING, isConfirmed: false },
    { name: 'submitted', isNew: false, isDismissed: true, follows: 'expected' },
  ],
  [
    { type: 'accepted', payout: SENT, isConfirmed: true },
    { name: 'paid', isNew: false, isDismissed: true, follows: 'none' },
  ],
  [
    { type: 'lost', error: NO_RESPONSE, payout: null },
    { name: 'unknown', isNew: false, isDismissed: true, follows: 'expected', error: NO_RESPONSE },
  ],
] as const)(
  'a page that is opened after $0.type knows of it, and only what still runs is news',
  ([event, expected]) => {
    expect(openedWith(event, APPROVED, false)).toMatchObject(expected);
  },
);

test('a request is news with its dialog open, until it is dismissed', () => {
  const requested = after({ type: 'requested' });
  expect(requested).toMatchObject({ name: 'requesting', payout: null, isNew: true, isDismissed: false });
  expect(after({ type: 'requested' }, { type: 'dismissed' })).toEqual({ ...requested, isDismissed: true });
  expect(after(accepted(false))).toMatchObject({ isNew: true, isDismissed: false, error: null });
});

test('a lost request whose payout is in the records is what its record says, with the error', () => {
  for (const [payout, name, follows] of [
    [PENDING, 'submitted', 'expected'],
    [SENT, 'paid', 'none'],
    [FAILED, 'failed', 'none'],
  ] as const)
    expect(after({ type: 'lost', error: NO_RESPONSE, payout })).toMatchObject({
      name,
      payout,
      follows,
      error: NO_RESPONSE,
      isNew: true,
    });
});

test('after a refusal without a payout, the record of a payout that was in progress is still looked for', () => {
  const refused = { type: 'refused', error: NO_RESPONSE, payout: null } as const;
  const on = (loan: typeof APPROVED) => payoutReducer(openedWith({ type: 'none' }, loan, true), refused);
  expect(on(APPROVED)).toMatchObject({ name: 'refused', error: NO_RESPONSE, isNew: false, follows: 'any' });
  expect(on(IN_PROGRESS)).toMatchObject({ name: 'refused', follows: 'expected' });
  const settled = payoutReducer(openedWith({ type: 'none' }, IN_PROGRESS, true), {
    ...refused,
    payout: SENT,
  });
  expect(settled).toMatchObject({ name: 'refused', payout: SENT, follows: 'none' });
});

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

test('where screens are live, a page follows others after its own payout failed, and closes the dialog for theirs', () => {
  const failed = payoutReducer(openedWith({ type: 'none' }, APPROVED, true), {
    type: 'accepted',
    payout: FAILED,
    isConfirmed: false,
  });
  expect(failed).toMatchObject({ name: 'failed', follows: 'any' });
  expect(payoutReducer(failed, followed(FAILED))).toMatchObject({ name: 'failed', isDismissed: false });
  expect(payoutReducer(failed, followed(PENDING))).toMatchObject({ name: 'submitted', isDismissed: true });
  expect(payoutReducer(failed, { type: 'requested' }).follows).toBe('none');
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
