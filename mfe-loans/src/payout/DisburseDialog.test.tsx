import { connection, session } from 'mfe-kit';
import {
  answer,
  disbursement,
  disbursementRecord,
  failure,
  garbled,
  pendingLoan,
  provider,
  type Received,
  renderSlice,
  screen,
  silent,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { act } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Loan, loanFrom } from '../loan/loan';
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

beforeEach(() => {
  // Waits between the acts of a user pass by themselves; those of the portal are let pass by the tests.
  vi.useFakeTimers({ shouldAdvanceTime: true });
  session.signIn({ token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' });
  answer('get', RECORDS, 200, []);
});

afterEach(() => void vi.useRealTimers());

async function openDialog(loan: Loan = LOAN) {
  const drawn = renderSlice(slice, { pathname: '/loans/LN-1', state: { loan } });
  await drawn.user.click(await screen.findByRole('button', { name: 'Disburse Loan' }));
  await dialog('Confirm Loan Disbursement');
  return drawn;
}

async function confirm(loan?: Loan) {
  const drawn = await openDialog(loan);
  await drawn.user.click(screen.getByRole('button', { name: 'Confirm Disbursement' }));
  return drawn;
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

test('REQ-249..253 it asks first: amount, phone and kind, with focus on Cancel', async () => {
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

test('REQ-249 REQ-254..257 REQ-266 while it runs it says so, and neither Escape nor the backdrop closes it', async () => {
  answer('post', DISBURSE, 200, disbursement(), { afterMs: 5000 });
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

test('REQ-229..231 REQ-258..261 REQ-267 success says so, closes after 2.5 s and stays on the page', async () => {
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }));
  const { router } = await confirm();
  const done = await dialog('Disbursement Successful');
  expect(done).toHaveTextContent('Successfully disbursed KES 25,000 to Wanjiku Kamau.');
  expect(done).toHaveTextContent('Success!The funds have been sent successfully.Transaction ID: UKE7Q2M9XA');
  await pass(2300);
  expect(screen.getByRole('dialog')).toBeVisible();
  await pass(400);
  await noDialog();

  const banner = screen.getByText('Disbursement Successful').closest('[data-news]');
  expect(banner).toHaveTextContent('The loan has been successfully disbursed to Wanjiku Kamau.');
  expect(banner).toHaveTextContent('An SMS notification has been sent to the customer.');
  await waitFor(() => expect(banner).toHaveFocus());
  expect(screen.getByText('Disbursed')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  expect(screen.getByRole('region', { name: 'Disbursement Information' })).toHaveTextContent('UKE7Q2M9XA');
  // A reload and Back find the loan as the provider left it.
  expect(router.state.location.state).toMatchObject({ loan: { id: 'LN-1', status: 'disbursed' } });
});

test('REQ-270..272 confirming asks once for this loan, amount and phone, under a key', async () => {
  const received = answer('post', DISBURSE, 200, disbursement());
  await confirm();
  await dialog('Disbursement Successful');
  expect(received).toHaveLength(1);
  expect(received[0]?.url.pathname).toBe('/api/v1/disbursements/LN-1/disburse');
  expect(received[0]?.body).toEqual({ agent_id: 1, amount: 25_000, phone_number: '+254712345678' });
  expect(keyOf(received)).toMatch(/^"[0-9a-f]{32}"$/);
});

test('a double click pays once', async () => {
  const received = answer('post', DISBURSE, 200, disbursement(), { afterMs: 100 });
  await openDialog();
  const button = screen.getByRole('button', { name: 'Confirm Disbursement' });
  act(() => {
    button.click();
    button.click();
  });
  await dialog('Disbursement Successful');
  expect(received).toHaveLength(1);
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

test('REQ-262..265 REQ-268 a refusal gives its reason; closing forgets it', async () => {
  answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  const { user } = await confirm();
  const failed = await dialog('Disbursement Failed');
  expect(failed).toHaveTextContent('There was an issue processing the disbursement.');
  expect(within(failed).getByRole('alert')).toHaveTextContent(`Error${REFUSAL}`);
  expect(screen.getByRole('button', { name: 'Try Again' })).toHaveFocus();
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await noDialog();
  expect(screen.queryByText(REFUSAL)).not.toBeInTheDocument();
  await user.click(screen.getByRole('button', { name: 'Disburse Loan' }));
  expect(await dialog('Confirm Loan Disbursement')).toBeVisible();
});

test('REQ-274 a failure without words has ours', async () => {
  unreachable('post', DISBURSE);
  await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent('Failed to disburse loan');
});

test.for(['Escape', 'the backdrop'])('REQ-266 %s closes it while nothing runs', async (way) => {
  const { user } = await openDialog();
  if (way === 'Escape') await user.keyboard('{Escape}');
  else await user.click(backdrop());
  await noDialog();
});

test('REQ-269 Try Again repeats the request: under the same key without an answer, under a new one after a refusal', async () => {
  const lost: Received[] = [];
  provider.events.on('request:start', ({ request }) => {
    if (request.method === 'POST')
      lost.push({ headers: request.headers, body: undefined, url: new URL(request.url) });
  });
  unreachable('post', DISBURSE);
  const { user } = await confirm();
  await dialog('Disbursement Failed');
  const refused = answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'));
  await user.click(screen.getByRole('button', { name: 'Try Again' }));
  await screen.findByText(REFUSAL);
  const paid = answer('post', DISBURSE, 200, disbursement());
  await user.click(screen.getByRole('button', { name: 'Try Again' }));
  await dialog('Disbursement Successful');

  expect(keyOf(refused)).toBe(keyOf(lost));
  expect(keyOf(paid)).not.toBe(keyOf(refused));
  expect(paid[0]?.body).toEqual(refused[0]?.body);
  provider.events.removeAllListeners();
});

test('the key of a request without an answer outlives the dialog and the page', async () => {
  answer('post', DISBURSE, 503, failure('The service is busy', 'busy'));
  const { user, router } = await confirm();
  await screen.findByText('The service is busy');
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await noDialog();
  const first = answer('post', DISBURSE, 503, failure('Still busy', 'busy'));
  await user.click(screen.getByRole('button', { name: 'Disburse Loan' }));
  await user.click(await screen.findByRole('button', { name: 'Confirm Disbursement' }));
  await screen.findByText('Still busy');
  await act(() => router.navigate('/elsewhere'));
  await act(() => router.navigate(-1));
  const second = answer('post', DISBURSE, 200, disbursement());
  await user.click(await screen.findByRole('button', { name: 'Disburse Loan' }));
  await user.click(await screen.findByRole('button', { name: 'Confirm Disbursement' }));
  await dialog('Disbursement Successful');
  expect(keyOf(second)).toBe(keyOf(first));
});

test('REQ-261 an accepted payout is a success with its number pending; the page waits with it and then shows the result', async () => {
  answer('post', DISBURSE, 202, accepted);
  answer('get', RECORDS, 200, [disbursementRecord({ ...accepted, status: 'PENDING' })]);
  const { router } = await confirm();
  expect(await dialog('Disbursement Successful')).toHaveTextContent('Transaction ID: Pending...');
  await pass(2600);
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

test('a payout that was accepted and then refused says so, and can be tried anew', async () => {
  answer('post', DISBURSE, 202, accepted);
  answer('get', RECORDS, 200, [
    disbursementRecord({ id: 'PAY-1', loan_id: 'LN-1', status: 'FAILED', error_message: REFUSAL }),
  ]);
  const { user } = await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent(REFUSAL);
  await user.keyboard('{Escape}');
  await noDialog();
  expect(screen.getByText('Disbursement Failed')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
});

test('a loan that the list calls pending is followed: its payout is under way', async () => {
  answer('get', RECORDS, 200, [disbursementRecord({ loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null })]);
  renderSlice(slice, {
    pathname: '/loans/LN-1',
    state: { loan: { ...LOAN, disbursementStatus: 'PENDING' } },
  });
  expect(await screen.findByText('Disbursement in Progress')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
});

test('a loan that the list calls pending without a payout under way can be paid out', async () => {
  renderSlice(slice, {
    pathname: '/loans/LN-1',
    state: { loan: { ...LOAN, disbursementStatus: 'pending' } },
  });
  await pass(4000);
  expect(await screen.findByRole('button', { name: 'Disburse Loan' })).toBeEnabled();
});

test('a loan that somebody else has paid out meanwhile is shown as it is', async () => {
  const record = disbursementRecord({ loan_id: 'LN-1', user_first_name: 'Brian', user_last_name: 'Kiptoo' });
  answer('post', DISBURSE, 409, {
    ...failure('This loan has been disbursed already.', 'already_disbursed'),
    record,
  });
  const { user } = await confirm();
  expect(await dialog('Disbursement Failed')).toHaveTextContent('This loan has been disbursed already.');
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await noDialog();
  expect(screen.getByText('Disbursed')).toBeVisible();
  expect(screen.getByRole('region', { name: 'Disbursement Information' })).toHaveTextContent('Brian Kiptoo');
  expect(screen.queryByText('Disbursement Successful')).not.toBeInTheDocument();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveFocus());
});

test('a loan whose payout is under way elsewhere is followed to its end', async () => {
  const record = disbursementRecord({ loan_id: 'LN-1', status: 'PENDING', mpesa_ref: null });
  answer('get', RECORDS, 200, [record]);
  answer('post', DISBURSE, 409, {
    ...failure('A disbursement of this loan is in progress.', 'in_progress'),
    record,
  });
  const { user } = await confirm();
  await dialog('Disbursement Failed');
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await noDialog();
  expect(screen.getByText('Disbursement in Progress')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
});

test.for([
  ['did not come in time', () => silent('post', DISBURSE)],
  ['was lost', () => unreachable('post', DISBURSE)],
  ['was no JSON', () => garbled('post', DISBURSE, '<html>')],
] as const)('when the answer %s, the records tell that the money went out', async ([, fail]) => {
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

test('when neither the payout nor the records answer, the truth shows as soon as there is one', async () => {
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

test('REQ-273 an answer without fields is a success that says nothing about the loan', async () => {
  garbled('post', DISBURSE, '{}');
  await confirm();
  expect(await dialog('Disbursement Successful')).toHaveTextContent('Transaction ID: Pending...');
  expect(screen.getByText('Approved, Pending Disbursement')).toBeInTheDocument();
});

test('REQ-246 a page that is left and entered again goes on where its payout is', async () => {
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }), { afterMs: 3000 });
  const { router } = await confirm();
  await dialog('Processing Disbursement');
  await act(() => router.navigate('/elsewhere'));
  await act(() => router.navigate(-1));
  expect(await screen.findByText('Processing disbursement...')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
  await pass(3000);
  expect(await screen.findByText('Disbursement Successful')).toBeVisible();
  expect(screen.getByText('Disbursed')).toBeVisible();
});

test('REQ-246 a payout that fails on a page entered again says so', async () => {
  answer('post', DISBURSE, 422, failure(REFUSAL, 'mobile_money_refused'), { afterMs: 3000 });
  const { router } = await confirm();
  await dialog('Processing Disbursement');
  await act(() => router.navigate('/elsewhere'));
  await act(() => router.navigate(-1));
  await screen.findByText('Processing disbursement...');
  await pass(3000);
  expect(await dialog('Disbursement Failed')).toHaveTextContent(REFUSAL);
});

test('a payout that ended while the page was away is known when it is entered again', async () => {
  answer('post', DISBURSE, 200, disbursement({ loan_id: 'LN-1' }), { afterMs: 1000 });
  const { router } = await confirm();
  await dialog('Processing Disbursement');
  await act(() => router.navigate('/elsewhere'));
  await pass(1500);
  await act(() => router.navigate(-1));
  expect(await screen.findByText('Disbursed')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Disburse Loan' })).not.toBeInTheDocument();
});

test('offline, the payout is held back', async () => {
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
