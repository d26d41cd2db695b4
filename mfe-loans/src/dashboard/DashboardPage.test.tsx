import { queryClient, queryKeys } from 'mfe-kit';
import {
  answer,
  disbursementRecord,
  garbled,
  hold,
  pendingLoan,
  provider,
  renderSlice,
  screen,
  unreachable,
  within,
} from 'mfe-kit/testing';
import { act } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import slice from '../slice';

const PENDING = '/api/v1/disbursements/pending';
const RECORDS = '/api/v1/disbursement-records';

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  vi.setSystemTime('2026-11-14T09:00:00.000Z');
});

const LOANS = Array.from({ length: 7 }, (_, index) =>
  pendingLoan({
    loan_id: `LN-${index}`,
    customer_first_name: `Customer${index}`,
    approved_at: `2026-11-1${index % 3}T08:00:00.000Z`,
    approver_name: index === 1 ? null : 'Achieng Otieno',
  }),
);

const RECORD = disbursementRecord({ loan_id: 'LN-PAID', amount: 1_871_000 });

async function open(loans = LOANS, records = [RECORD]) {
  answer('get', PENDING, 200, loans);
  answer('get', RECORDS, 200, records);
  const drawn = renderSlice(slice, '/');
  await screen.findByText('Total Disbursed');
  return drawn;
}

const valueOf = (title: string) => screen.getByText(title, { selector: 'dt' }).nextElementSibling;
const figure = (title: string) => valueOf(title)?.textContent;
const note = (title: string) => valueOf(title)?.nextElementSibling?.textContent;

test('REQ-171 the title and today’s date in long format', async () => {
  await open();
  expect(screen.getByRole('heading', { level: 1, name: 'Dashboard' })).toBeVisible();
  expect(screen.getByText('Saturday, 14 November 2026')).toBeVisible();
});

test('at midnight in the deployment’s time zone, the date and the figures are those of the new day, without a call', async () => {
  vi.setSystemTime('2026-11-14T20:59:59.000Z');
  await open(LOANS, [disbursementRecord({ amount: 500, created_at: '2026-11-14T08:00:00.000Z' })]);
  expect(figure('Disbursed Today')).toBe('KES 500');
  provider.resetHandlers();
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(screen.getByText('Sunday, 15 November 2026')).toBeVisible();
  expect(figure('Disbursed Today')).toBe('KES 0');
});

test('a tab that is shown again is of its day, although its timers stood still', async () => {
  await open();
  vi.setSystemTime('2026-11-16T09:00:00.000Z');
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  expect(screen.getByText('Monday, 16 November 2026')).toBeVisible();
});

test('a loan whose payout hangs is shown like any other, and says so', async () => {
  await open([pendingLoan({ disbursement_status: 'PENDING' })]);
  expect(screen.getByText('In progress')).toBeVisible();
  expect(screen.getByRole('link', { name: 'View' })).toBeVisible();
});

test('REQ-172..176 four figures, from the two lists', async () => {
  await open(LOANS, [
    disbursementRecord({ amount: 1_000_000, created_at: '2026-01-01T08:00:00.000Z' }),
    disbursementRecord({ amount: 20_000, created_at: '2026-11-12T08:00:00.000Z' }),
    disbursementRecord({ amount: 500, created_at: '2026-11-14T08:00:00.000Z' }),
  ]);
  expect(figure('Pending Disbursements')).toBe('7');
  expect(figure('Total Disbursed')).toBe('KES 1,020,500');
  expect(figure('Disbursed Today')).toBe('KES 500');
  expect(figure('Disbursed This Week')).toBe('KES 20,500');
});

test('REQ-179..182 the first five loans, each with a link to its details', async () => {
  const { user, router } = await open();
  const table = screen.getByRole('table', { name: 'Pending Disbursements' });
  expect(
    within(table)
      .getAllByRole('columnheader')
      .map(({ textContent }) => textContent),
  ).toEqual(['Customer', 'Loan Amount', 'Approved Date', 'Approved By', 'Action']);
  const [, ...rows] = within(table).getAllByRole('row');
  expect(rows).toHaveLength(5);
  expect(
    within(rows[0]!)
      .getAllByRole('cell')
      .map(({ textContent }) => textContent),
  ).toEqual(['Customer0 Kamau0712345678', 'KES 25,000', '10 Nov 2026', 'Achieng Otieno', 'View']);
  expect(within(rows[1]!).getByText('N/A')).toBeVisible();
  await user.click(within(rows[1]!).getByRole('link', { name: 'View' }));
  expect(router.state.location.pathname).toBe('/loans/LN-1');
  expect(router.state.location.state).toMatchObject({ loan: { id: 'LN-1' } });
});

test.for([
  ['REQ-183', 'Pending Disbursements', '/pending-loans'],
  ['REQ-185', 'Recent Activity', '/transactions'],
] as const)('%s View all of %s opens %s', async ([, card, path]) => {
  await open();
  const region = screen.getByRole('region', { name: card });
  expect(within(region).getByRole('link', { name: 'View all' })).toHaveAttribute('href', path);
});

test('REQ-012 REQ-190 REQ-191 REQ-192 recent activity, newest first', async () => {
  await open(LOANS, [
    disbursementRecord({ created_at: '2026-11-14T08:48:00.000Z', amount: 32_000 }),
    disbursementRecord({
      created_at: '2026-11-13T08:00:00.000Z',
      status: 'FAILED',
      amount: 300_000,
      error_message: 'Above the maximum for one payment',
    }),
  ]);
  const items = within(screen.getByRole('region', { name: 'Recent Activity' })).getAllByRole('listitem');
  expect(items.map(({ textContent }) => textContent)).toEqual([
    'Loan DisbursedWanjiku Kamau · KES 32,00012 minutes ago',
    'Disbursement FailedWanjiku Kamau · KES 300,000Above the maximum for one paymentYesterday',
    'Loan ApprovedCustomer2 Kamau · KES 25,0002 days ago',
  ]);
  expect(within(items[0]!).getByText('12 minutes ago')).toHaveAttribute(
    'datetime',
    '2026-11-14T08:48:00.000Z',
  );
});

test('REQ-184 REQ-186 empty lists say so', async () => {
  await open([], []);
  expect(screen.getByText('No pending disbursements')).toBeVisible();
  expect(screen.getByText('No recent activity')).toBeVisible();
  expect(figure('Pending Disbursements')).toBe('0');
  expect(figure('Total Disbursed')).toBe('KES 0');
});

test('REQ-193 loading shows a spinner', async () => {
  const held = hold();
  answer('get', PENDING, 200, LOANS, { until: held.back });
  answer('get', RECORDS, 200, []);
  renderSlice(slice, '/');
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeInTheDocument();
  held.release();
  expect(await screen.findByText('Total Disbursed')).toBeVisible();
});

test.for([PENDING, RECORDS] as const)(
  'REQ-194..196 a failure of %s shows its text and a Retry',
  async (path) => {
    answer('get', PENDING, 200, LOANS);
    answer('get', RECORDS, 200, []);
    unreachable('get', path);
    renderSlice(slice, '/');
    expect(await screen.findByRole('alert')).toHaveTextContent('ErrorFailed to fetch dashboard stats');
    expect(screen.getByRole('button', { name: 'Retry' })).toBeEnabled();
  },
);

test('records with missing fields are counted, and rows that can’t be read are not', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  garbled('get', PENDING, JSON.stringify([{}, [], ...LOANS, { customer_first_name: 'Nobody' }]));
  const records = [
    { loan_id: 'LN-1', status: 'SUCCESS', amount: '500' },
    { loan_id: 'LN-2', status: 'SUCCESS', amount: '25,000.00' },
    { id: 'PAY-3', amount: 7 },
    { status: 'SUCCESS', amount: 70 },
    {},
  ];
  garbled('get', RECORDS, JSON.stringify(records));
  renderSlice(slice, '/');
  await screen.findByText('Total Disbursed');
  expect(figure('Total Disbursed')).toBe('KES 500');
  expect(note('Total Disbursed')).toBe('3 rows can’t be read');
  expect(figure('Pending Disbursements')).toBe('7');
  expect(note('Pending Disbursements')).toBe('3 rows can’t be read');
  const [, ...rows] = screen.getAllByRole('row');
  expect(rows.map(({ textContent }) => textContent.slice(0, 9))).toEqual(
    [0, 1, 2, 3, 4].map((index) => `Customer${index}`),
  );
});

test('recent activity says what is missing of a name or an amount', async () => {
  const none = { customer_first_name: null, customer_last_name: null } as never;
  await open(
    [pendingLoan({ ...(none as object), total_loan_amount: null as never })],
    [disbursementRecord({ ...(none as object), amount: 500, created_at: '2026-11-14T08:48:00.000Z' })],
  );
  const items = within(screen.getByRole('region', { name: 'Recent Activity' })).getAllByRole('listitem');
  expect(items.map(({ textContent }) => textContent)).toEqual([
    'Loan DisbursedN/A · KES 50012 minutes ago',
    'Loan ApprovedN/A · N/A2 days ago',
  ]);
});

test('REQ-368 the figures stay fresh for two minutes', async () => {
  await open();
  const { options } = queryClient.getQueryCache().find({ queryKey: queryKeys.dashboard })!;
  expect(options).toMatchObject({ staleTime: 120_000 });
});
