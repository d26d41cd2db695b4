import { queryClient, queryKeys, setPortalSettings } from 'mfe-kit';
import {
  answer,
  disbursementRecord,
  hold,
  provider,
  renderSlice,
  screen,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { act } from 'react';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import slice from '../slice';

const RECORDS_PATH = '/api/v1/disbursement-records';

const RECORDS = Array.from({ length: 60 }, (_, index) =>
  disbursementRecord({
    id: `PAY-${index + 1}`,
    loan_id: `LN-${index + 1}`,
    status: index % 3 === 0 ? 'FAILED' : 'COMPLETED',
    mpesa_ref: index % 3 === 0 ? null : `UKE${index + 1}`,
  }),
);

async function open(address = '/transactions', records = RECORDS) {
  const received = answer('get', RECORDS_PATH, 200, records);
  const drawn = renderSlice(slice, address);
  await screen.findByText(/transaction\(s\) found/);
  return { ...drawn, received };
}

const searchBox = () => screen.getByPlaceholderText('Search transactions...');
const range = () => screen.getByText(/^Showing/).textContent;
const firstRow = () => screen.getAllByRole('row')[1]!;
const cell = (row: HTMLElement, title: string) =>
  within(row).getAllByRole('cell')[
    screen.getAllByRole('columnheader').findIndex(({ textContent }) => textContent === title)
  ]!;

async function choose(user: Awaited<ReturnType<typeof open>>['user'], box: string, option: string) {
  await user.click(screen.getByRole('combobox', { name: box }));
  await user.click(screen.getByRole('option', { name: option }));
}

// Otherwise the first test would wait for the page's code.
beforeAll(() => import('./TransactionsPage'));

test('REQ-275 REQ-299 REQ-303 the first seven rows are shown, with the count under the title', async () => {
  await open();
  expect(screen.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
  expect(screen.getByText('60 transaction(s) found')).toBeVisible();
  expect(screen.getAllByRole('row')).toHaveLength(1 + 7);
  expect(range()).toBe('Showing 1 to 7 of 60 results');
  expect(screen.getByText('7 / page')).toBeVisible();
});

test('REQ-279..286 the columns are in order, and a row shows its record', async () => {
  const { user } = await open('/transactions', [disbursementRecord()]);
  expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
    'Customer Name',
    'Disb Date',
    'Amount',
    'Status',
    'Reference',
    'Approved By',
    'Dibursed By',
  ]);
  const row = firstRow();
  expect(cell(row, 'Customer Name')).toHaveTextContent('Wanjiku Kamau0712345678ID 28461937');
  expect(cell(row, 'Disb Date')).toHaveTextContent('14 Nov 2026');
  expect(cell(row, 'Amount')).toHaveTextContent('KES 25,000');
  expect(cell(row, 'Status')).toHaveTextContent('Successful');
  expect(cell(row, 'Status').querySelector('svg')).toBeVisible();
  expect(cell(row, 'Reference')).toHaveTextContent('UKE7Q2M9XA');
  expect(cell(row, 'Approved By')).toHaveTextContent('Peter Njoroge');
  expect(cell(row, 'Dibursed By')).toHaveTextContent('Achieng Otieno');
  const date = within(row).getByText('14 Nov 2026');
  expect(date).toHaveAttribute('datetime', '2026-11-14T09:30:00.000Z');
  expect(date.title).toMatch(/14 Nov 2026.*12:30:00/);
  await user.click(within(row).getByRole('button', { name: 'Copy reference UKE7Q2M9XA' }));
  expect(await navigator.clipboard.readText()).toBe('UKE7Q2M9XA');
});

test('REQ-283 missing values have a fallback', async () => {
  await open('/transactions', [
    disbursementRecord({ mpesa_ref: null, approver_name: null, user_first_name: '', user_last_name: '' }),
  ]);
  const row = firstRow();
  expect(cell(row, 'Reference')).toHaveTextContent(/^N\/A$/);
  expect(cell(row, 'Approved By')).toHaveTextContent(/^Supervisor$/);
  expect(cell(row, 'Dibursed By')).toHaveTextContent(/^Agent$/);
  expect(within(row).queryByRole('button')).not.toBeInTheDocument();
});

test('a record with most fields missing still has a row, also if its amount can’t be read', async () => {
  await open('/transactions', [{ id: 'PAY-1', amount: '25,000.00', status: 'REVERSED' } as never]);
  for (const title of ['Disb Date', 'Amount']) expect(cell(firstRow(), title)).toHaveTextContent(/^N\/A$/);
  expect(cell(firstRow(), 'Status')).toHaveTextContent('Pending');
});

test('a record that can’t be read costs its row only, which is on the last page, counted and reported', async () => {
  const reported = vi.spyOn(console, 'error').mockReturnValue();
  const { user } = await open('/transactions', [{ amount: 1 } as never, ...RECORDS.slice(0, 8)]);
  expect(screen.getByText('8 transaction(s) found')).toBeVisible();
  expect(screen.getByText('1 row can’t be read')).toBeVisible();
  expect(reported).toHaveBeenCalledWith('1 of 9 rows of a list could not be read');
  expect(range()).toBe('Showing 1 to 7 of 8 results');
  expect(screen.queryByText('This row could not be read')).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Last page' }));
  expect(range()).toBe('Showing 8 to 8 of 8 results');
  const row = screen.getAllByRole('row')[2]!;
  expect(row).toHaveTextContent('This row could not be read');
  for (const title of ['Amount', 'Status', 'Approved By'])
    expect(cell(row, title)).toHaveTextContent(/^N\/A$/);
  await choose(user, 'Status', 'Pending');
  expect(await screen.findByText('No transactions found')).toBeVisible();
});

test('a failed payout has its reason, with what to do', async () => {
  const error_message = 'The operator does not exist.';
  await open('/transactions', [disbursementRecord({ status: 'FAILED', error_message })]);
  expect(within(firstRow()).getByRole('button', { name: 'Failed' })).toHaveAccessibleDescription(
    `The number has no mobile-money account. Check it with the customer. ${error_message}`,
  );
});

test('REQ-276 REQ-287 REQ-288 REQ-291 a search returns to page 1 and is in the address', async () => {
  const { user, router } = await open('/transactions?page=3');
  expect(range()).toBe('Showing 15 to 21 of 60 results');
  await user.type(searchBox(), 'uke2');
  expect(screen.getByText('8 transaction(s) found')).toBeVisible();
  expect(range()).toBe('Showing 1 to 7 of 8 results');
  expect(router.state.location.search).toBe('?search=uke2');
  await user.clear(searchBox());
  expect(screen.getByText('60 transaction(s) found')).toBeVisible();
  expect(router.state.location.search).toBe('');
});

test('REQ-277 REQ-289 REQ-291 a status filter returns to page 1 and is in the address', async () => {
  const { user, router } = await open('/transactions?page=3');
  await user.click(screen.getByRole('combobox', { name: 'Status' }));
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    'All Statuses',
    'Successful',
    'Failed',
    'Pending',
  ]);
  await user.click(screen.getByRole('option', { name: 'Failed' }));
  expect(screen.getByText('20 transaction(s) found')).toBeVisible();
  expect(range()).toBe('Showing 1 to 7 of 20 results');
  expect(router.state.location.search).toBe('?status=failed');
});

test('REQ-278 REQ-290 More Filters does nothing, and no control sets a type', async () => {
  const { user, router } = await open();
  const before = document.body.innerHTML;
  screen.getByRole('button', { name: 'More Filters' }).focus();
  await user.keyboard('{Enter}');
  expect(document.body.innerHTML).toBe(before);
  expect(router.state.location.search).toBe('');
  expect(screen.getAllByRole('combobox')).toHaveLength(2);
});

test('REQ-292 REQ-300 a page size returns to page 1 and is in the address', async () => {
  const { user, router } = await open('/transactions?page=3');
  await choose(user, 'Rows per page', '25 / page');
  expect(range()).toBe('Showing 1 to 25 of 60 results');
  expect(screen.getAllByRole('row')).toHaveLength(1 + 25);
  expect(router.state.location.search).toBe('?size=25');
});

test('the address sets search, status, page and size, and keeps other parameters', async () => {
  const { user, router } = await open('/transactions?search=ln-&status=success&page=2&size=10&from=mail');
  expect(searchBox()).toHaveValue('ln-');
  expect(screen.getByText('Successful', { selector: '[title]' })).toBeVisible();
  expect(range()).toBe('Showing 11 to 20 of 40 results');
  await user.click(screen.getByRole('button', { name: 'Page 3' }));
  expect(range()).toBe('Showing 21 to 30 of 40 results');
  expect(Object.fromEntries(new URLSearchParams(router.state.location.search))).toEqual({
    search: 'ln-',
    status: 'success',
    page: '3',
    size: '10',
    from: 'mail',
  });
});

test('an invalid address shows the whole list', async () => {
  const { router } = await open('/transactions?page=0');
  expect(range()).toBe('Showing 1 to 7 of 60 results');
  for (const search of ['page=-1', 'page=two', 'page=1.5', 'size=8', 'size=', 'status=SUCCESS', 'status=']) {
    await act(() => router.navigate('/transactions?page=2'));
    expect(range()).toBe('Showing 8 to 14 of 60 results');
    await act(() => router.navigate(`/transactions?${search}`));
    expect(range(), search).toBe('Showing 1 to 7 of 60 results');
  }
});

test('a page past the end shows the last one', async () => {
  await open('/transactions?page=400');
  expect(range()).toBe('Showing 57 to 60 of 60 results');
});

test('the list keeps its state when it is left and opened again', async () => {
  const { user, router } = await open();
  await user.type(searchBox(), 'uke');
  await user.click(screen.getByRole('button', { name: 'Page 2' }));
  await router.navigate('/elsewhere');
  await screen.findByTestId('elsewhere');
  await router.navigate(-1);
  expect(await screen.findByPlaceholderText('Search transactions...')).toHaveValue('uke');
  expect(range()).toBe('Showing 8 to 14 of 40 results');
});

test.for([
  ['smoothly', false, 'smooth'],
  ['at once where motion is reduced', true, 'auto'],
] as const)('REQ-293 a page turn scrolls to the top %s', async ([, isReduced, behavior]) => {
  const scrollTo = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined);
  vi.spyOn(window, 'matchMedia').mockImplementation(
    (query) =>
      Object.assign(new EventTarget(), {
        matches: isReduced && query === '(prefers-reduced-motion: reduce)',
        media: query,
      }) as unknown as MediaQueryList,
  );
  const { user } = await open();
  await user.click(screen.getByRole('button', { name: 'Next page' }));
  expect(range()).toBe('Showing 8 to 14 of 60 results');
  expect(scrollTo.mock.calls).toEqual([[{ top: 0, behavior }]]);
});

test('search and filter do not scroll', async () => {
  const scrollTo = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined);
  const { user } = await open();
  await user.type(searchBox(), 'uke');
  await choose(user, 'Status', 'Failed');
  expect(scrollTo).not.toHaveBeenCalled();
});

test('REQ-295 REQ-301 an empty history explains when transactions appear, and has no pages', async () => {
  await open('/transactions', []);
  expect(screen.getByText('0 transaction(s) found')).toBeVisible();
  expect(screen.getByText('No transactions found')).toBeVisible();
  expect(screen.getByText('Transactions will appear here once loans are disbursed')).toBeVisible();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
  expect(screen.queryByRole('navigation')).not.toBeInTheDocument();
});

test('REQ-294 a search or status without results suggests what to do', async () => {
  const { user } = await open();
  await user.type(searchBox(), 'no-match');
  expect(screen.getByText('No transactions found')).toBeVisible();
  expect(screen.getByText('Try adjusting your search or filters')).toBeVisible();
  await user.clear(searchBox());
  await choose(user, 'Status', 'Pending');
  expect(screen.getByText('Try adjusting your search or filters')).toBeVisible();
});

test('REQ-295 a search of spaces is not a filter', async () => {
  await open('/transactions?search=%20%20', []);
  expect(screen.getByText('Transactions will appear here once loans are disbursed')).toBeVisible();
});

test('REQ-296 REQ-298 a spinner is shown while the list is loading', async () => {
  const held = hold();
  const received = answer('get', RECORDS_PATH, 200, RECORDS, { until: held.back });
  renderSlice(slice, '/transactions');
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeInTheDocument();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
  held.release();
  expect(await screen.findByRole('table', { name: 'Transactions' })).toBeVisible();
  expect(screen.queryByRole('status', { name: 'Loading' })).not.toBeInTheDocument();
  expect(received.map(({ url }) => url.pathname + url.search)).toEqual([RECORDS_PATH]);
});

test('REQ-369 the list is fresh for 5 minutes, and then fetched again', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { router, received } = await open();
  const leaveAndReturn = async () => {
    await router.navigate('/elsewhere');
    await screen.findByTestId('elsewhere');
    await router.navigate('/transactions');
    await screen.findByText('60 transaction(s) found');
  };
  vi.setSystemTime(Date.now() + 5 * 60_000 - 1000);
  await leaveAndReturn();
  expect(received).toHaveLength(1);
  vi.setSystemTime(Date.now() + 2000);
  await leaveAndReturn();
  await waitFor(() => expect(received).toHaveLength(2));
});

test('a refetch keeps the rows under the spinner', async () => {
  await open();
  const held = hold();
  const newest = [disbursementRecord({ mpesa_ref: 'UKENEWEST1' })];
  answer('get', RECORDS_PATH, 200, newest, { until: held.back });
  void queryClient.invalidateQueries({ queryKey: queryKeys.transactions });
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeInTheDocument();
  expect(screen.getAllByRole('row')).toHaveLength(1 + 7);
  held.release();
  expect(await screen.findByText('UKENEWEST1')).toBeVisible();
  expect(screen.getByText('1 transaction(s) found')).toBeVisible();
});

test.for([
  ['the server’s text', 'The service is busy', { error: 'The service is busy' }],
  ['the portal’s text where it has none', 'Failed to fetch transactions', {}],
] as const)('REQ-297 REQ-298 a failure shows %s and a Retry', async ([, text, body]) => {
  provider.use(http.get(`*${RECORDS_PATH}`, () => HttpResponse.json(body, { status: 503 })));
  renderSlice(slice, '/transactions');
  expect(await screen.findByRole('alert')).toHaveTextContent(`Error${text}`);
  expect(screen.getByRole('heading', { level: 1, name: 'Transaction History' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Retry' })).toBeEnabled();
});

describe('in a portal whose screens are live', () => {
  beforeEach(() => setPortalSettings({ screens: 'live' }));

  const THREE = [
    disbursementRecord({ id: 'PAY-1', amount: 10_000, created_at: '2026-11-10T09:00:00.000Z' }),
    disbursementRecord({ id: 'PAY-2', amount: 20_000, approver_name: null }),
    disbursementRecord({ id: 'PAY-3', amount: 30_000, user_first_name: 'Wanjiru', user_last_name: 'Maina' }),
  ];

  test('More Filters narrows the list by who disbursed and by amount, and returns to page 1', async () => {
    const { router, user } = await open('/transactions?page=2&size=10', THREE);
    await user.click(screen.getByRole('button', { name: 'More Filters' }));
    await user.click(await screen.findByLabelText('Disbursed by'));
    await user.click(screen.getByRole('option', { name: 'Achieng Otieno (2)' }));
    await screen.findByText('2 transaction(s) found');
    await user.type(screen.getByLabelText('Amount to'), '15000');
    await screen.findByText('1 transaction(s) found');
    expect(cell(firstRow(), 'Amount')).toHaveTextContent('KES 10,000');
    expect(router.state.location.search).toBe('?size=10&disburser=Achieng+Otieno&max=15000');
    expect(screen.getByRole('button', { name: 'More Filters 2 set' })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    await screen.findByText('3 transaction(s) found');
  });

  test('Export CSV saves the payouts that the filters leave, all pages of them', async () => {
    const made: Blob[] = [];
    Object.assign(URL, {
      createObjectURL: (blob: Blob) => `blob:${made.push(blob)}`,
      revokeObjectURL: () => {},
    });
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    const { user } = await open('/transactions?min=20000', THREE);
    await user.click(screen.getByRole('button', { name: 'Export CSV' }));
    const file = new FileReader();
    file.readAsText(made[0]!);
    await waitFor(() => expect(file.result).not.toBeNull());
    const lines = (file.result as string).split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toContain('date (Africa/Nairobi),customer,phone,national_id,amount_kes');
    expect(lines[1]).toContain(
      'PAY-2,LN-2026-00917,2026-11-14 12:30,Wanjiku Kamau,0712345678,28461937,20000',
    );
    // The names that the list and its filters show.
    expect(lines[1]).toContain(',Supervisor,Achieng Otieno,');
  });

  test('filters of the address apply, and an empty result says that they can be changed', async () => {
    await open('/transactions?approver=Supervisor&from=2026-12-01', THREE);
    expect(screen.getByText('0 transaction(s) found')).toBeVisible();
    expect(screen.getByText('Try adjusting your search or filters')).toBeVisible();
  });
});
