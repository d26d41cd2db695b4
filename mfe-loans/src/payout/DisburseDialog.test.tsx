import { cleanup } from '@testing-library/react';
import { acts, connection, queryClient, queryKeys, session, setPortalSettings } from 'mfe-kit';
import {
  answer,
  disbursement,
  disbursementRecord,
  failure,
  garbled,
  hold,
  pendingLoan,
  preferences,
  provider,
  type Received,
  renderSlice,
  screen,
  silent,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { act } from 'react';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Loan, loanFrom } from '../loan/loan';
import { pendingLoansQuery } from '../loan/queries';
import slice from '../slice';

const DISBURSE = '/api/v1/disbursements/{loanId}/disburse';
const RECORDS = '/api/v1/disbursement-records';
const REFUSAL = 'The balance is insufficient for the transaction.';

const LOAN = loanFrom(pendingLoan({ loan_id: 'LN-1' }));

const accepted = disbursement({
  id: 'PAY-1',
  loan_id: 'LN-1',
  status: 'PENDING',
  mpesa_ref: null,
  loan_status: 'APPROVED',
  disbursement_status: 'PENDING',
  disbursed_at: null,
  disbursed_by: null,
});

const rejected = disbursementRecord({
  id: 'PAY-1',
  loan_id: 'LN-1',
  status: 'FAILED',
  mpesa_ref: null,
  error_message: REFUSAL,
});

beforeEach(() => {
  // The clock advances on its own while a user acts; tests advance it for the portal's timers.
  vi.useFakeTimers({ shouldAdvanceTime: true });
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
  answer('get', RECORDS, 200, []);
});

const open = (loan: Loan = LOAN) => renderSlice(slice, { pathname: '/loans/LN-1', state: { loan } });

/** Loads the page again, which keeps navigation state and nothing else. */
function reload({ router }: ReturnType<typeof open>) {
  const { pathname, state } = router.state.location as { pathname: string; state: unknown };
  cleanup();
  queryClient.clear();
  return renderSlice(slice, { pathname, state });
}

async function openDialog(loan?: Loan, drawn = open(loan)) {
  await drawn.user.click(await screen.findByRole('button', { name: 'Disburse Loan' }));
  await dialog('Confirm Loan Disbursement');
  return drawn;
}

async function confirm(loan?: Loan, drawn = open(loan)) {
  await openDialog(loan, drawn);
  await drawn.user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  return drawn;
}

/** Confirms a payout that mobile money accepts, and whose record stays pending; the dialog closes by itself. */
async function submit() {
  answer('post', DISBURSE, 202, accepted);
  answer('get', RECORDS, 200, [disbursementRecord({ ...accepted, status: 'PENDING' })]);
  const drawn = await confirm();
  await dialog('Disbursement Submitted');
  await pass(2600);
  await noDialog();
  return drawn;
}

/** Clicks 'Try Again' once the failure has been shown long enough to be read. */
async function tryAgain(user: ReturnType<typeof open>['user']) {
  await pass(700);
  await user.click(screen.getByRole('button', { name: 'Try Again' }));
}

async function closeDialog(user: ReturnType<typeof open>['user']) {
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await noDialog();
}

const dialog = (name: string) => screen.findByRole('dialog', { name });
const noDialog = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const keyOf = ([request]: Received[]) => request?.headers.get('Idempotency-Key');

function backdrop() {
  const wrap = document.querySelector('.ant-modal-wrap');
  if (!wrap) throw new Error('No dialog is open');
  return wrap;
}

test('a name that sets a direction does not turn the sentence round, and its phone is sent without marks', async () => {
  const sent = answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
  const { user } = await openDialog(
    loanFrom(
      pendingLoan({
        loan_id: 'LN-1',
        customer_first_name: '\u202eFatuma',
        customer_phone_number: '\u202a+254712345678\u202c',
      }),
    ),
  );
  const named = '\u2068\u202eFatuma Kamau\u2069';
  expect(screen.getByRole('dialog')).toHaveTextContent(`KES 25,000 to ${named} via`);
  expect(screen.getByRole('dialog')).toHaveTextContent('0712 3456 78');
  await user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  expect(await dialog('Disbursement Successful')).toHaveTextContent(`to ${named}.`);
  expect(sent[0]?.body).toMatchObject({ phone_number: '+254712345678' });
  await pass(2500);
  expect(await screen.findByText(`The loan has been successfully disbursed to ${named}.`)).toBeVisible();
});

test('REQ-249..253 it asks for confirmation: amount, phone and type, with focus on Cancel', async () => {
  const { user } = await openDialog();
  const asked = screen.getByRole('dialog');
  expect(asked).toHaveTextContent(
    'You are about to disburse KES 25,000 to Wanjiku Kamau via the mobile-money service.',
  );
  expect(within(asked).getByText('Amount').nextElementSibling).toHaveTextContent('KES 25,000');
  expect(within(asked).getByText('Phone Number').nextElementSibling).toHaveTextContent('0712 3456 78');
  expect(within(asked).getByText('Transaction Type').nextElementSibling).toHaveTextContent('Disbursement');
  await waitFor(() => expect(screen.getByRole('button', { name: 'Cancel' })).toHaveFocus());
  expect(screen.getByRole('button', { name: 'Confirm Disbursement' })).toBeEnabled();
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  await noDialog();
  await waitFor(() => expect(screen.getByRole('button', { name: 'Disburse Loan' })).toHaveFocus());
});

test('REQ-249 REQ-254..257 REQ-266 while the request is pending it says so, and neither Escape nor the backdrop closes it', async () => {
  answer('post', DISBURSE, 200, disbursement(), { until: hold().back });
  const { user } = await confirm();
  const running = await dialog('Processing Disbursement');
  expect(running).toHaveTextContent('Please wait while we process your request...');
  expect(running).toHaveTextContent('Processing transaction with the mobile-money service...');
  expect(running).toHaveTextContent('This may take a few moments');
  expect(running).toContainElement(document.activeElement as HTMLElement);
  await user.keyboard('{Escape}');
  await user.click(backdrop());
  await pass(1000);
  expect(screen.getByRole('dialog', { name: 'Processing Disbursement' })).toBeVisible();
});

test('REQ-229..231 REQ-258..261 REQ-267 a success closes after 2.5 s, and the page keeps the banner', async () => {
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
  const { router } = await confirm();
  const done = await dialog('Disbursement Successful');
  expect(done).toHaveTextContent('Successfully disbursed KES 25,000 to Wanjiku Kamau.');
  expect(done).toHaveTextContent('Success!The funds have been sent successfully.Transaction ID: UKE7Q2M9XA');
  await pass(2300);
  expect(screen.getByRole('dialog')).toBeVisible();
  await pass(400);
  await noDialog();

  const banner = screen.getByText('Disbursement Successful').closest('[data-notice]');
  expect(banner).toHaveTextContent('The loan has been successfully disbursed to Wanjiku Kamau.');
  expect(banner).toHaveTextContent('An SMS notification has been sent to the customer.');
  await waitFor(() => expect(banner).toHaveFocus());
  expect(screen.getByText('Disbursed')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  expect(screen.getByRole('region', { name: 'Disbursement Information' })).toHaveTextContent('UKE7Q2M9XA');
  // A reload and Back show the loan as the provider reported it.
  expect(router.state.location.state).toMatchObject({ loan: { id: 'LN-1', status: 'disbursed' } });
});

test('REQ-270..272 confirming sends one request with this loan, amount, phone and a key', async () => {
  const received = answer('post', DISBURSE, 200, disbursement());
  await confirm();
  await dialog('Disbursement Successful');
  expect(received).toHaveLength(1);
  expect(received[0]?.url.pathname).toBe('/api/v1/disbursements/LN-1/disburse');
  expect(received[0]?.body).toEqual({ agent_id: 1, amount: 25_000, phone_number: '+254712345678' });
  expect(keyOf(received)).toMatch(/^"[0-9a-f]{32}"$/);
});

test('a double click pays once', async () => {
  const held = hold();
  const received = answer('post', DISBURSE, 200, disbursement(), { until: held.back });
  await openDialog();
  const button = screen.getByRole('button', { name: 'Confirm Disbursement' });
  act(() => {
    button.click();
    button.click();
  });
  held.release();
  await dialog('Disbursement Successful');
  expect(received).toHaveLength(1);
});

test('of a payout that is refused at once, the second press of a double one neither tries again nor closes the dialog', async () => {
  const received = answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  const { user } = await openDialog();
  await waitFor(() => expect(screen.getByRole('button', { name: 'Cancel' })).toHaveFocus());
  await user.tab();
  await user.keyboard('{Enter}');
  await dialog('Disbursement Failed');
  const again = screen.getByRole('button', { name: 'Try Again' });
  expect(again).toHaveFocus();
  await user.keyboard('{Enter}');
  await user.click(backdrop());
  await pass(400);
  expect(again).toBeVisible();
  expect(received).toHaveLength(1);
  await tryAgain(user);
  await waitFor(() => expect(received).toHaveLength(2));
});

test('REQ-248 with nobody signed in nothing happens', async () => {
  const received = answer('post', DISBURSE, 200, disbursement());
  const { user } = await openDialog();
  act(() => session.clear());
  await user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  await pass(100);
  expect(received).toHaveLength(0);
  expect(screen.getByRole('dialog', { name: 'Confirm Loan Disbursement' })).toBeVisible();
});

test('REQ-262..265 REQ-268 a rejection shows its reason; closing clears it', async () => {
  answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  const { user } = await confirm();
  const failed = await dialog('Disbursement Failed');
  expect(failed).toHaveTextContent('There was an issue processing the disbursement.');
  expect(within(failed).getByRole('alert')).toHaveTextContent(`Error${REFUSAL}`);
  expect(within(failed).getByText('req-test')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Try Again' })).toHaveFocus();
  await closeDialog(user);
  expect(screen.queryByText(REFUSAL)).not.toBeInTheDocument();
  expect(screen.queryByText('Disbursement Failed')).not.toBeInTheDocument();
  await user.click(screen.getByRole('button', { name: 'Disburse Loan' }));
  expect(await dialog('Confirm Loan Disbursement')).toBeVisible();
});

test.for([
  ['as specified', {}],
  ['live', { screens: 'live' }],
] as const)(
  'where the screens are %s, a refusal is said by its dialog, and not once more by the page',
  async ([, settings]) => {
    setPortalSettings(settings);
    answer('get', '/api/v1/preferences', 200, preferences());
    const refusal = failure(REFUSAL, 'mobile_money_refused');
    answer('post', DISBURSE, 422, { ...refusal, result_code: '1', record: rejected });
    const { user } = await confirm();
    await dialog('Disbursement Failed');
    await closeDialog(user);
    expect(screen.queryByText('Disbursement Failed')).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
  },
);

test('REQ-274 a failure without a text shows the portal’s text', async () => {
  unreachable('post', DISBURSE);
  await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent('Failed to disburse loan');
});

test.for(['Escape', 'the backdrop'])('REQ-266 %s closes it while no request is pending', async (means) => {
  const { user } = await openDialog();
  if (means === 'Escape') await user.keyboard('{Escape}');
  else await user.click(backdrop());
  await noDialog();
});

test('a payout and its repetition are two acts, each with a trace of its own', async () => {
  const ended: string[] = [];
  onTestFinished(acts.record(({ name, screen, failed }) => ended.push([name, screen, failed].join(' '))));
  const refused = answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  const { user } = await confirm();
  await screen.findByText(REFUSAL);
  const paid = answer('post', DISBURSE, 200, disbursement());
  await tryAgain(user);
  await dialog('Disbursement Successful');
  expect(ended).toEqual(['confirm a payout  true', 'try again  false']);
  const [first, second] = [refused[0]!, paid[0]!].map(({ headers }) => headers.get('traceparent'));
  expect([typeof first, typeof second, first === second]).toEqual(['string', 'string', false]);
});

test('REQ-269 Try Again repeats the request: with the same key if no response came, with a new one after a rejection', async () => {
  const lost: Received[] = [];
  provider.events.on('request:start', ({ request }) => {
    if (request.method === 'POST')
      lost.push({ headers: request.headers, body: undefined, url: new URL(request.url) });
  });
  unreachable('post', DISBURSE);
  const { user } = await confirm();
  await dialog('Disbursement Failed');
  const refused = answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  await tryAgain(user);
  await screen.findByText(REFUSAL);
  const paid = answer('post', DISBURSE, 200, disbursement());
  await tryAgain(user);
  await dialog('Disbursement Successful');

  expect(keyOf(refused)).toBe(keyOf(lost));
  expect(keyOf(paid)).not.toBe(keyOf(refused));
  expect(paid[0]?.body).toEqual(refused[0]?.body);
  provider.events.removeAllListeners();
});

test('the key of a request without a response outlives the dialog and the page', async () => {
  answer('post', DISBURSE, 503, failure('The service is busy', 'busy'));
  const drawn = await confirm();
  await screen.findByText('The service is busy');
  await closeDialog(drawn.user);
  const first = answer('post', DISBURSE, 503, failure('Still busy', 'busy'));
  await confirm(LOAN, drawn);
  await screen.findByText('Still busy');
  await act(() => drawn.router.navigate('/elsewhere'));
  await act(() => drawn.router.navigate(-1));
  const second = answer('post', DISBURSE, 200, disbursement());
  await confirm(LOAN, drawn);
  await dialog('Disbursement Successful');
  expect(keyOf(second)).toBe(keyOf(first));
});

test('the key of a request without a response is kept for as long as the provider keeps it, a day', async () => {
  const lost = answer('post', DISBURSE, 503, failure('The service is busy', 'busy'));
  const drawn = await confirm();
  await screen.findByText('The service is busy');
  await act(() => drawn.router.navigate('/elsewhere'));
  await pass(24 * 60 * 60 * 1000 - 60_000);
  const paid = answer('post', DISBURSE, 200, disbursement());
  // From the list, whose loan knows of no request.
  await act(() => drawn.router.navigate('/loans/LN-1', { state: { loan: LOAN } }));
  await confirm(LOAN, drawn);
  await dialog('Disbursement Successful');
  expect(keyOf(paid)).toBe(keyOf(lost));
});

test('a request whose key is in use by itself, being still under way, is repeated with its key', async () => {
  const lost = answer('post', DISBURSE, 503, failure('The service is busy', 'busy'));
  const { user } = await confirm();
  await screen.findByText('The service is busy');
  answer('post', DISBURSE, 409, failure('Still under way', 'idempotency_key_in_use'));
  await tryAgain(user);
  await screen.findByText('Still under way');
  const paid = answer('post', DISBURSE, 200, disbursement());
  await tryAgain(user);
  await dialog('Disbursement Successful');
  expect(keyOf(paid)).toBe(keyOf(lost));
});

test('while a loan is being paid, another one can be: each page knows of its own payout only', async () => {
  const held = hold();
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }), { until: held.back });
  const drawn = await confirm();
  await dialog('Processing Disbursement');
  const other = loanFrom(pendingLoan({ loan_id: 'LN-2' }));
  await act(() => drawn.router.navigate('/loans/LN-2', { state: { loan: other } }));
  const received = answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-2' }));
  await confirm(other, drawn);
  await dialog('Disbursement Successful');
  expect(received[0]?.url.pathname).toBe('/api/v1/disbursements/LN-2/disburse');
  held.release();
});

test('an accepted payout is called submitted, not a success; the dialog closes after 2.5 s and the page shows the result', async () => {
  answer('post', DISBURSE, 202, accepted);
  answer('get', RECORDS, 200, [disbursementRecord({ ...accepted, status: 'PENDING' })]);
  const { router } = await confirm();
  const submitted = await dialog('Disbursement Submitted');
  expect(submitted).toHaveTextContent(
    'The mobile-money service has not confirmed the payout yet. ' +
      'The result shows on this page as soon as it is known.',
  );
  expect(submitted).toHaveTextContent('Transaction ID: Pending...');
  expect(submitted).not.toHaveTextContent(/success/i);
  expect(submitted).toContainElement(document.activeElement as HTMLElement);
  await pass(2300);
  expect(screen.getByRole('dialog')).toBeVisible();
  await pass(400);
  await noDialog();
  expect(screen.getByText('Approved, Pending Disbursement')).toBeVisible();
  expect(screen.getByText('Disbursement in Progress')).toBeVisible();
  expect(screen.queryByText('Disbursement Successful')).not.toBeInTheDocument();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  expect(router.state.location.state).toMatchObject({ loan: { disbursementStatus: 'PENDING' } });

  answer('get', RECORDS, 200, [disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1' })]);
  await pass(3000);
  expect(await screen.findByText('Disbursement Successful')).toBeVisible();
  expect(screen.getByText('Disbursed')).toBeVisible();
  expect(screen.getByRole('region', { name: 'Disbursement Information' })).toHaveTextContent('UKE7Q2M9XA');
});

test('an accepted payout that is confirmed while the dialog is open turns into a success', async () => {
  answer('post', DISBURSE, 202, accepted);
  const held = hold();
  const records = [disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1' })];
  answer('get', RECORDS, 200, records, { until: held.back });
  await confirm();
  expect(await screen.findByText('Disbursement Submitted')).toBeVisible();
  held.release();
  expect(await screen.findByText('The funds have been sent successfully.')).toBeVisible();
  expect(screen.getByText('Transaction ID: UKE7Q2M9XA')).toBeVisible();
  expect(screen.queryByText('Disbursement Submitted')).not.toBeInTheDocument();
  await pass(2600);
  await noDialog();
});

test('an accepted payout that is rejected while the dialog is open says so, and can be tried again', async () => {
  answer('post', DISBURSE, 202, accepted);
  answer('get', RECORDS, 200, [rejected]);
  const { user } = await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent(REFUSAL);
  await user.keyboard('{Escape}');
  await noDialog();
  expect(screen.getByText('Disbursement Failed')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
});

test('an accepted payout that is rejected later says so on the page, and the loan can be paid out', async () => {
  await submit();
  answer('get', RECORDS, 200, [rejected]);
  await pass(3000);
  expect(await screen.findByRole('alert')).toHaveTextContent(`Disbursement Failed${REFUSAL}`);
  expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
  expect(screen.queryByText('Disbursement in Progress')).not.toBeInTheDocument();
});

test.for([
  ['succeeds', () => disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1' }), 'Disbursement Successful'],
  ['fails', () => rejected, REFUSAL],
] as const)('after a reload, an accepted payout is still followed until it %s', async ([, settled, text]) => {
  const drawn = await submit();
  answer('get', RECORDS, 200, [settled()]);
  reload(drawn);
  expect(await screen.findByText(text)).toBeVisible();
  expect(screen.queryByText('Disbursement in Progress')).not.toBeInTheDocument();
});

test('after a reload while the payout is requested, it is followed, and requested again with the same key', async () => {
  const held = hold();
  const received = answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }), { until: held.back });
  const first = await confirm();
  await waitFor(() => expect(received).toHaveLength(1));

  const second = await confirm(LOAN, reload(first));
  await waitFor(() => expect(received).toHaveLength(2));
  expect(keyOf(received.slice(1))).toBe(keyOf(received));

  answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1' })]);
  reload(second);
  expect(await screen.findByText('Disbursement Successful')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  held.release();
});

test('a request that was refused is not remembered over a reload', async () => {
  const received = answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  const drawn = await confirm();
  await dialog('Disbursement Failed');
  await confirm(LOAN, reload(drawn));
  await waitFor(() => expect(received).toHaveLength(2));
  expect(keyOf(received.slice(1))).not.toBe(keyOf(received));
});

test('an accepted payout is found even when 100 newer records exist', async () => {
  const newer = Array.from({ length: 100 }, (_, index) =>
    disbursementRecord({ id: `PAY-NEW-${index}`, loan_id: `LN-NEW-${index}` }),
  );
  answer('post', DISBURSE, 202, accepted);
  const all = [...newer, disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1' })];
  provider.use(
    http.get('*/api/v1/disbursement-records', ({ request }) => {
      const limit = Number(new URL(request.url).searchParams.get('limit') ?? all.length);
      return HttpResponse.json(all.slice(0, limit));
    }),
  );
  await confirm();
  expect(await dialog('Disbursement Successful')).toHaveTextContent('Transaction ID: UKE7Q2M9XA');
});

test('the lists are read again when an accepted payout settles', async () => {
  answer('post', DISBURSE, 202, accepted);
  answer('get', RECORDS, 200, [disbursementRecord({ ...accepted, status: 'PENDING' })]);
  await confirm();
  await dialog('Disbursement Submitted');
  // The acceptance itself refreshes the lists.
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  const lists = [queryKeys.pendingLoans, queryKeys.dashboard, queryKeys.transactions];
  for (const queryKey of lists) queryClient.setQueryData(queryKey, []);
  await pass(3000);
  for (const queryKey of lists) expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(false);
  answer('get', RECORDS, 200, [disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1' })]);
  await pass(3000);
  await screen.findByText('Disbursed');
  for (const queryKey of lists) expect(queryClient.getQueryState(queryKey)?.isInvalidated).toBe(true);
});

test('a loan that is paid leaves the list of pending loans before the list is read again', async () => {
  const { queryKey } = pendingLoansQuery();
  const other = { ...LOAN, id: 'LN-2' };
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
  const { user } = await openDialog();
  queryClient.setQueryData(queryKey, [LOAN, other]);
  await user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  await dialog('Disbursement Successful');
  await waitFor(() => expect(queryClient.getQueryData(queryKey)).toEqual([other]));
});

test('without a response, a payout that the records call pending is submitted, not a success', async () => {
  unreachable('post', DISBURSE);
  answer('get', RECORDS, 200, [
    disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null }),
  ]);
  await confirm();
  expect(await dialog('Disbursement Submitted')).toHaveTextContent('Transaction ID: Pending...');
});

test('a loan with a pending payout in the list is followed', async () => {
  answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null })]);
  open({ ...LOAN, disbursementStatus: 'PENDING' });
  expect(await screen.findByText('Disbursement in Progress')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
});

test('a loan that is pending in the list but has no pending payout can be paid out', async () => {
  open({ ...LOAN, disbursementStatus: 'pending' });
  await pass(4000);
  expect(await screen.findByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
});

test('a loan that another user has paid out is shown as disbursed', async () => {
  const record = disbursementRecord({ loan_id: 'LN-1', user_first_name: 'Brian', user_last_name: 'Kiptoo' });
  answer('post', DISBURSE, 409, {
    ...failure('This loan has already been disbursed.', 'already_disbursed'),
    record,
  });
  const { user } = await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent('This loan has already been disbursed.');
  await closeDialog(user);
  expect(screen.getByText('Disbursed')).toBeVisible();
  expect(screen.getByRole('region', { name: 'Disbursement Information' })).toHaveTextContent('Brian Kiptoo');
  expect(screen.queryByText('Disbursement Successful')).not.toBeInTheDocument();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveFocus());
});

test('a payout that another user has started is followed', async () => {
  const record = disbursementRecord({ loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null });
  answer('get', RECORDS, 200, [record]);
  answer('post', DISBURSE, 409, {
    ...failure('A disbursement of this loan is in progress.', 'in_progress'),
    record,
  });
  const { user } = await confirm();
  await dialog('Disbursement Failed');
  await closeDialog(user);
  expect(screen.getByText('Disbursement in Progress')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  answer('get', RECORDS, 200, [{ ...rejected, id: record.id }]);
  await pass(3000);
  expect(await screen.findByText('Disbursement Failed')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
});

test.for([
  ['is too late', () => silent('post', DISBURSE)],
  ['is lost', () => unreachable('post', DISBURSE)],
  ['is not JSON', () => garbled('post', DISBURSE, '<html>')],
] as const)('when the response %s, the records show that the money was sent', async ([, fail]) => {
  fail();
  answer('get', RECORDS, 200, [
    disbursementRecord({ loan_id: 'LN-OTHER', mpesa_ref: 'UKEOTHER00' }),
    disbursementRecord({ loan_id: 'LN-1', status: 'FAILED', mpesa_ref: null }),
    disbursementRecord({ loan_id: 'LN-1', mpesa_ref: 'UKE7Q2M9XA' }),
  ]);
  await confirm();
  expect(await dialog('Disbursement Successful')).toHaveTextContent('Transaction ID: UKE7Q2M9XA');
  expect(screen.getByText('Disbursed')).toBeInTheDocument();
});

test('when neither the payout nor the records can be read, the result shows as soon as they can', async () => {
  unreachable('post', DISBURSE);
  unreachable('get', RECORDS);
  await confirm();
  await dialog('Disbursement Failed');
  answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1', mpesa_ref: 'UKE7Q2M9XA' })]);
  await pass(3000);
  expect(await dialog('Disbursement Successful')).toHaveTextContent('Transaction ID: UKE7Q2M9XA');
  await pass(2600);
  await noDialog();
  expect(screen.getByText('Disbursement Successful')).toBeVisible();
});

test('REQ-273 a response without fields is a success that does not change the loan', async () => {
  garbled('post', DISBURSE, '{}');
  await confirm();
  expect(await dialog('Disbursement Successful')).toHaveTextContent('Transaction ID: Pending...');
  expect(screen.getByText('Approved, Pending Disbursement')).toBeInTheDocument();
  await pass(2600);
  expect(screen.getByText('Disbursement Successful').closest('[data-notice]')).toBeVisible();
});

test('an accepted payout of which the response says nothing is followed', async () => {
  provider.use(
    http.post('*/api/v1/disbursements/LN-1/disburse', () => HttpResponse.json({}, { status: 202 })),
  );
  await confirm();
  await dialog('Disbursement Submitted');
  answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1' })]);
  await pass(3000);
  expect(await screen.findByText('Disbursement Successful')).toBeVisible();
  expect(screen.getByRole('region', { name: 'Disbursement Information' })).toHaveTextContent('UKE7Q2M9XA');
});

test('a failure whose body is null shows the portal’s text', async () => {
  provider.use(
    http.post('*/api/v1/disbursements/LN-1/disburse', () => HttpResponse.json(null, { status: 422 })),
  );
  await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent('Failed to disburse loan');
});

test('while the records are asked what became of a request without a response, it has not failed', async () => {
  const held = hold();
  unreachable('post', DISBURSE);
  const records = [disbursementRecord({ loan_id: 'LN-1' })];
  const asked = answer('get', RECORDS, 200, records, { until: held.back });
  await confirm();
  await waitFor(() => expect(asked).toHaveLength(1));
  await pass(1000);
  expect(screen.getByRole('dialog', { name: 'Processing Disbursement' })).toBeVisible();
  held.release();
  await dialog('Disbursement Successful');
  expect(asked).toHaveLength(1);
});

test('REQ-246 a page that is left and opened again shows the payout in progress', async () => {
  const held = hold();
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }), { until: held.back });
  const { router } = await confirm();
  await dialog('Processing Disbursement');
  await act(() => router.navigate('/elsewhere'));
  await act(() => router.navigate(-1));
  expect(await screen.findByText('Processing disbursement...')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  held.release();
  expect(await screen.findByText('Disbursement Successful')).toBeVisible();
  expect(screen.getByText('Disbursed')).toBeVisible();
});

test('REQ-246 a payout that fails after the page was opened again says so', async () => {
  const held = hold();
  answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'), { until: held.back });
  const { router } = await confirm();
  await dialog('Processing Disbursement');
  await act(() => router.navigate('/elsewhere'));
  await act(() => router.navigate(-1));
  await screen.findByText('Processing disbursement...');
  held.release();
  expect(await dialog('Disbursement Failed')).toHaveTextContent(REFUSAL);
});

test('a payout that settled while the page was left is known when it is opened again', async () => {
  const held = hold();
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }), { until: held.back });
  const { router } = await confirm();
  await dialog('Processing Disbursement');
  await act(() => router.navigate('/elsewhere'));
  held.release();
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  await act(() => router.navigate(-1));
  expect(await screen.findByText('Disbursed')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  expect(screen.queryByText('Disbursement Successful')).not.toBeInTheDocument();
});

test('offline, a payout can’t be requested', async () => {
  connection.start();
  const { user } = await openDialog();
  const browserSays = (word: 'online' | 'offline') => act(() => void window.dispatchEvent(new Event(word)));
  const fetched = vi.fn<typeof fetch>().mockRejectedValue(new TypeError('Failed to fetch'));
  vi.stubGlobal('fetch', fetched);
  browserSays('offline');
  expect(screen.getByRole('button', { name: 'Confirm Disbursement' })).toBeDisabled();
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  await noDialog();
  expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeDisabled();
  fetched.mockResolvedValue(new Response());
  browserSays('online');
  await waitFor(() => expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled());
});

describe('where the screens are live', () => {
  const PREFERENCES = '/api/v1/preferences';
  const { rules } = preferences();
  const refusal = { ...failure(REFUSAL, 'mobile_money_refused'), result_code: '1', record: rejected };
  /** Answers with the deployment's rules, changed. */
  const ruled = (changed: Partial<typeof rules> = {}) =>
    answer('get', PREFERENCES, 200, preferences({ rules: { ...rules, ...changed } }));

  beforeEach(() => setPortalSettings({ screens: 'live' }));

  test('above the maximum amount, the dialog says so and nothing can be confirmed', async () => {
    ruled({ maximum_amount: 24_999 });
    await openDialog();
    expect(await screen.findByText('Above the maximum amount')).toBeVisible();
    expect(screen.getByText(/at most KES 24,999/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Confirm Disbursement' })).toBeDisabled();
  });

  test('without confirmation the payout is sent at once, but asked for above the maximum', async () => {
    ruled({ confirmation_required: false, maximum_amount: 25_000 });
    const received = answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
    const { user } = open();
    await waitFor(() => expect(queryClient.getQueryData(queryKeys.preferences)).toBeDefined());
    await user.click(await screen.findByRole('button', { name: 'Disburse Loan' }));
    await dialog('Disbursement Successful');
    expect(received).toHaveLength(1);
    cleanup();

    queryClient.clear();
    const larger = loanFrom(pendingLoan({ loan_id: 'LN-1', total_loan_amount: 25_001 }));
    const again = open(larger);
    await waitFor(() => expect(queryClient.getQueryData(queryKeys.preferences)).toBeDefined());
    await again.user.click(await screen.findByRole('button', { name: 'Disburse Loan' }));
    await dialog('Confirm Loan Disbursement');
    expect(received).toHaveLength(1);
  });

  test('a refused payment is tried again as often as the rules say, each time with a new key', async () => {
    ruled({ auto_retry: true, retry_attempts: 2 });
    const received = answer('post', DISBURSE, 422, refusal);
    await confirm();
    await pass(2000);
    await pass(2000);
    await dialog('Disbursement Failed');
    await pass(10_000);
    const keys = received.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(3);
  });

  test('after a retry with an unknown outcome, Try Again repeats that attempt and no earlier one', async () => {
    ruled({ auto_retry: true, retry_attempts: 1 });
    const keys: (string | null)[] = [];
    provider.use(
      http.post('*/api/v1/disbursements/LN-1/disburse', ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
        return keys.length === 1 ? HttpResponse.json(refusal, { status: 422 }) : HttpResponse.error();
      }),
    );
    const { user } = await confirm();
    await pass(2000);
    await dialog('Disbursement Failed');
    await tryAgain(user);
    await waitFor(() => expect(keys).toHaveLength(3));
    expect(keys[1]).not.toBe(keys[0]);
    expect(keys[2]).toBe(keys[1]);
  });

  /** Achieng signs out, and Baraka signs in. */
  const changeUser = () =>
    act(() => {
      session.clear();
      session.signIn({ token: 'token-2', username: 'Baraka', email: 'baraka@mkopo.test' });
    });

  test('a refused payment is not tried again for whoever signs in next', async () => {
    ruled({ auto_retry: true });
    const received = answer('post', DISBURSE, 422, refusal);
    await confirm();
    await waitFor(() => expect(received).toHaveLength(1));
    changeUser();
    await pass(10_000);
    expect(received).toHaveLength(1);
  });

  test('in a page that another tab signs in for somebody else, the refusal stays the outcome', async () => {
    ruled({ auto_retry: true });
    const received = answer('post', DISBURSE, 422, refusal);
    await confirm();
    await waitFor(() => expect(received).toHaveLength(1));
    localStorage.setItem('auth_token', 'token-2');
    await pass(2000);
    expect(await dialog('Disbursement Failed')).toHaveTextContent(REFUSAL);
    expect(received).toHaveLength(1);
  });

  test('a payout that waits for the rules is not sent for whoever signs in next', async () => {
    const held = hold();
    answer('get', PREFERENCES, 200, preferences(), { until: held.back });
    const received = answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
    await confirm();
    changeUser();
    held.release();
    await pass(1000);
    expect(received).toHaveLength(0);
  });

  test('any other failure is not tried again', async () => {
    ruled({ auto_retry: true });
    const tooMuch = failure('Above the maximum', 'amount_above_maximum');
    const received = answer('post', DISBURSE, 422, tooMuch as never);
    await confirm();
    await dialog('Disbursement Failed');
    await pass(10_000);
    expect(received).toHaveLength(1);
  });

  test('a page follows the payout that somebody else makes', async () => {
    ruled();
    const read = answer('get', RECORDS, 200, []);
    open();
    await waitFor(() => expect(queryClient.getQueryData(['payout', 'LN-1', null])).toBeNull());
    // Without news there is nothing to ask.
    await pass(10_000);
    expect(read).toHaveLength(1);
    answer('get', RECORDS, 200, [
      disbursementRecord({ loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null }),
    ]);
    await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.payout }));
    expect(await screen.findByText('Disbursement in Progress')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Disburse Loan' })).toBeNull();
    answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1' })]);
    await pass(3000);
    expect(await screen.findByText('Disbursement Successful')).toBeVisible();
    expect(screen.getByText('UKE7Q2M9XA')).toBeVisible();
  });

  test.for([
    ['has paid', 'COMPLETED', 'Disbursement Successful'],
    ['is paying', 'PENDING', 'Disbursement in Progress'],
  ] as const)(
    'while it asks for confirmation, a loan that somebody else %s closes it, and the page says so',
    async ([, status, notice]) => {
      ruled();
      await openDialog();
      const sent = answer('post', DISBURSE, 200, disbursement());
      answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1', status })]);
      await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.payout }));
      await noDialog();
      const shown = screen.getByText(notice).closest('[data-notice]');
      await waitFor(() => expect(shown).toHaveFocus());
      expect(sent).toHaveLength(0);
      // It stays closed if the other one's payout fails, and the loan can be paid again.
      answer('get', RECORDS, 200, [disbursementRecord({ ...rejected, id: 'PAY-1' })]);
      await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.payout }));
      await pass(3000);
      expect(screen.queryByRole('dialog')).toBeNull();
    },
  );

  test('a request that came second closes its dialog once the first one has paid, and the page says so', async () => {
    ruled();
    const record = disbursementRecord({ loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null });
    const { user } = await openDialog();
    answer('get', RECORDS, 200, [record]);
    answer('post', DISBURSE, 409, {
      ...failure('A disbursement of this loan is in progress.', 'in_progress'),
      record,
    });
    await user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
    await dialog('Disbursement Failed');
    answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1' })]);
    await pass(3000);
    await noDialog();
    const shown = screen.getByText('Disbursement Successful').closest('[data-notice]');
    await waitFor(() => expect(shown).toHaveFocus());
  });

  test.for([
    ['refused', 422, refusal],
    ['failed', 200, disbursement({ ...accepted, status: 'FAILED' })],
  ] as const)(
    'after its own payout has ended as %s, a page still follows one that somebody else makes',
    async ([, status, body]) => {
      ruled();
      answer('post', DISBURSE, status, body as never);
      await confirm();
      await dialog('Disbursement Failed');
      answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1', id: 'PAY-2' })]);
      await act(() => queryClient.invalidateQueries({ queryKey: queryKeys.payout }));
      await noDialog();
      expect(screen.getByText('Disbursement Successful')).toBeVisible();
    },
  );

  test('a payout that was accepted and has failed is said by the page, too, once its dialog is closed', async () => {
    ruled();
    answer('post', DISBURSE, 200, disbursement({ ...accepted, status: 'FAILED' }));
    const { user } = await confirm();
    await dialog('Disbursement Failed');
    await closeDialog(user);
    expect(screen.getByText('Disbursement Failed').closest('[data-notice]')).toBeVisible();
  });

  test('with a provider without rules, a payout is as specified', async () => {
    answer('get', PREFERENCES, 404, failure('Not found', 'not_found'));
    answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
    await confirm();
    await dialog('Disbursement Successful');
  });

  test('where the rules can’t be read, a payout is as specified, and does not wait for them', async () => {
    unreachable('get', PREFERENCES);
    answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
    const drawn = open();
    await pass(60_000);
    expect(queryClient.getQueryState(queryKeys.preferences)).toMatchObject({
      status: 'error',
      fetchStatus: 'idle',
    });
    await confirm(LOAN, drawn);
    await dialog('Disbursement Successful');
  });
});
