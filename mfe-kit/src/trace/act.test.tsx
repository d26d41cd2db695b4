import { type Act, type ActName, acts, api, dataOf, screenAct, queryClient } from 'mfe-kit';
import {
  answer,
  failure,
  garbled,
  hold,
  pendingLoan,
  renderPart,
  screen,
  unreachable,
  waitFor,
} from 'mfe-kit/testing';
import { FailedState } from 'mfe-kit/ui';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const PENDING = '/api/v1/disbursements/pending';
const CODE = '/api/v1/auth/request-signin-otp';

let ended: Act[];
let stop: () => void;

beforeEach(() => {
  ended = [];
  stop = acts.record((act) => ended.push(act));
});

afterEach(() => {
  stop();
  sessionStorage.clear();
  delete window.__READS__;
});

const readLoans = () => dataOf(api.GET(PENDING));
const requestCode = () => api.POST(CODE, { body: { email: 'agent@mkopo.test' } });

/** Runs a mutation as a slice does, as an act if it has a name; its failure is ignored. */
async function run(act: string | undefined, mutationFn: () => Promise<unknown>): Promise<void> {
  const meta = act ? { act: act as ActName } : undefined;
  const mutation = queryClient
    .getMutationCache()
    .build(queryClient, { mutationFn, ...(meta ? { meta } : {}) });
  await mutation.execute(undefined).catch(() => undefined);
}

const sentWith = (received: { headers: Headers }[]) =>
  received.map(({ headers }) => headers.get('traceparent'));

test('the calls of an act carry its trace, and others none', async () => {
  const loans = answer('get', PENDING, 200, [pendingLoan()]);
  const codes = answer('post', CODE, 200, { message: 'sent' });
  await readLoans();
  await run('sign in', async () => {
    await requestCode();
    await readLoans();
  });
  await run(undefined, readLoans);
  const [span, ...others] = ended;
  expect(others).toEqual([]);
  expect(span).toEqual({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    name: 'sign in',
    screen: '',
    failed: false,
    began: expect.any(Number) as number,
    ended: expect.any(Number) as number,
  });
  expect(span!.ended).toBeGreaterThanOrEqual(span!.began);
  const header = `00-${span!.trace_id}-${span!.span_id}-01`;
  expect(sentWith(codes)).toEqual([header]);
  expect(sentWith(loans)).toEqual([null, header, null]);
});

test('each act has ids of its own, which are never only zeros', async () => {
  await run('try again', () => Promise.resolve());
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => bytes);
  await run('try again', () => Promise.resolve());
  expect(ended[1]).toMatchObject({ trace_id: `01${'0'.repeat(30)}`, span_id: `01${'0'.repeat(14)}` });
  expect(ended[0]!.trace_id).not.toBe(ended[1]!.trace_id);
});

test.for([
  ['a call that is refused', () => answer('get', PENDING, 503, failure('Busy', 'busy'))],
  ['a call without an answer', () => unreachable('get', PENDING)],
  ['a body that can’t be read', () => garbled('get', PENDING, '<html>')],
] as const)('an act fails with %s', async ([, prepare]) => {
  prepare();
  await run('try again', readLoans);
  expect(ended).toMatchObject([{ name: 'try again', failed: true }]);
});

test('an act fails with one of its calls, also if the screen makes up for it', async () => {
  unreachable('post', CODE);
  await run('confirm a payout', () => requestCode().catch(() => undefined));
  expect(ended).toMatchObject([{ failed: true }]);
});

test('a call that the page no longer waits for fails no act', async () => {
  const held = hold();
  answer('get', PENDING, 200, [], { until: held.back });
  const left = new AbortController();
  await run('try again', () => {
    const call = api.GET(PENDING, { signal: left.signal }).catch(() => undefined);
    left.abort();
    return call;
  });
  held.release();
  expect(ended).toMatchObject([{ failed: false }]);
});

test('where acts are not recorded, none begins and no call carries a trace', async () => {
  stop();
  const loans = answer('get', PENDING, 200, []);
  const stored = vi.spyOn(Storage.prototype, 'setItem');
  screenAct.open('/', false);
  await run('sign in', readLoans);
  screenAct.drawn(false);
  expect(acts.traceparent).toBeUndefined();
  expect(sentWith(loans)).toEqual([null]);
  expect(ended).toEqual([]);
  expect(stored).not.toHaveBeenCalled();
});

test('a name that the contract does not have begins no act', async () => {
  const loans = answer('get', PENDING, 200, []);
  await run('pay Wanjiru KES 500', readLoans);
  expect(sentWith(loans)).toEqual([null]);
  expect(ended).toEqual([]);
});

/** Reads the loans as a screen does, and says that it is drawn. */
function drawScreen() {
  const read = queryClient.query({ queryKey: ['loans'], queryFn: readLoans, retry: false });
  screenAct.drawn(false);
  return read;
}

const isEnded = () => waitFor(() => expect(ended).not.toEqual([]));

test('a screen is open when its data has arrived', async () => {
  const held = hold();
  const loans = answer('get', PENDING, 200, [], { until: held.back });
  screenAct.open('/loans/:id', false);
  const read = drawScreen();
  await expect.poll(() => loans).toHaveLength(1);
  expect(ended).toEqual([]);
  held.release();
  await read;
  await isEnded();
  expect(ended).toMatchObject([{ name: 'open a screen', screen: '/loans/:id', failed: false }]);
  expect(sentWith(loans)).toEqual([`00-${ended[0]!.trace_id}-${ended[0]!.span_id}-01`]);
  expect(acts.traceparent).toBeUndefined();
});

test('what the answer to one query makes a screen read is of the same act, and its time ends with the last', async () => {
  vi.useFakeTimers();
  screenAct.open('/', false);
  let answered: () => void = () => undefined;
  const query = (key: string) =>
    queryClient.query({
      queryKey: [key],
      queryFn: () => new Promise<null>((resolve) => (answered = () => resolve(null))),
    });
  void query('first');
  screenAct.drawn(false);
  await vi.advanceTimersByTimeAsync(300);
  answered();
  await vi.advanceTimersByTimeAsync(50);
  void query('second');
  await vi.advanceTimersByTimeAsync(300);
  expect(ended).toEqual([]);
  answered();
  await vi.advanceTimersByTimeAsync(200);
  expect(Math.round(ended[0]!.ended - ended[0]!.began)).toBe(650);
});

test('a screen whose calls never end is open after ten seconds', async () => {
  vi.useFakeTimers();
  screenAct.open('/', false);
  const never = { queryKey: ['never'], queryFn: () => new Promise<null>(() => undefined) };
  queryClient.query(never).catch(() => undefined);
  screenAct.drawn(false);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toMatchObject([{ failed: false }]);
});

test('a screen has failed if it could not be drawn', async () => {
  screenAct.open('/', false);
  screenAct.drawn(true);
  await isEnded();
  expect(ended).toMatchObject([{ name: 'open a screen', failed: true }]);
});

test('a person who is sent on opens one screen, and one who moves on opens two', () => {
  screenAct.open('/dashboard', false);
  screenAct.open('/', true);
  screenAct.open('/pending-loans', false);
  expect(ended).toMatchObject([{ screen: '/' }]);
});

test('a payout is of its own act, also while another screen is being opened', async () => {
  const codes = answer('post', CODE, 200, { message: 'sent' });
  const loans = answer('get', PENDING, 200, []);
  await run('confirm a payout', async () => {
    screenAct.open('/transactions', false);
    await Promise.all([requestCode(), readLoans()]);
  });
  screenAct.drawn(false);
  await waitFor(() => expect(ended).toHaveLength(2));
  const [payout, opened] = ended;
  expect([payout!.name, opened!.name]).toEqual(['confirm a payout', 'open a screen']);
  expect(sentWith(codes)).toEqual([`00-${payout!.trace_id}-${payout!.span_id}-01`]);
  expect(sentWith(loans)).toEqual([`00-${opened!.trace_id}-${opened!.span_id}-01`]);
});

test('the first screen is opened since the page was requested, in the trace of the calls that the page has started', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  window.__READS__ = { started: new Map(), start: () => undefined, traceparent };
  screenAct.open('/', false);
  expect(acts.traceparent).toBe(traceparent);
  screenAct.drawn(false);
  await isEnded();
  expect(ended).toMatchObject([{ trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), began: 0 }]);
  expect(window.__READS__).not.toHaveProperty('traceparent');
  screenAct.open('/reports', false);
  expect(window.__READS__.traceparent).toMatch(/^00-(?!a{32})/);
});

test('REQ-195 REQ-199 REQ-297 Retry reloads the page, which then tries again', async () => {
  screenAct.open('/reports', false);
  const { user } = renderPart(<FailedState message="Failed" />);
  const reload = vi.fn();
  vi.stubGlobal('location', { reload });
  await user.click(screen.getByRole('button', { name: 'Retry' }));
  expect(reload).toHaveBeenCalledOnce();
  expect(ended).toMatchObject([{ name: 'open a screen', screen: '/reports' }]);
  ended.length = 0;
  screenAct.open('/', false);
  screenAct.open('/reports', false);
  screenAct.tryAgain();
  screenAct.open('/', false);
  expect(ended.map(({ name }) => name)).toEqual(['try again', 'open a screen', 'try again']);
});
