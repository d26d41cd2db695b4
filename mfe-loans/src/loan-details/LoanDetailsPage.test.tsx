import { queryClient, setPortalSettings } from 'mfe-kit';
import {
  answer,
  disbursementRecord,
  pendingLoan,
  provider,
  renderSlice,
  screen,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { http, HttpResponse } from 'msw';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Loan, loanFrom } from '../loan/loan';
import slice from '../slice';

const LOAN = loanFrom(pendingLoan({ loan_id: 'LN-1' }));

const DISBURSED: Loan = {
  ...LOAN,
  status: 'disbursed',
  disbursementStatus: 'COMPLETED',
  disbursementDate: '2026-11-14T09:30:02.000Z',
  mpesaReference: 'UKE7Q2M9XA',
  disbursedBy: 'Achieng Otieno',
};

async function open(loan: Loan) {
  const drawn = renderSlice(slice, { pathname: '/loans/LN-1', state: { loan } });
  await screen.findByRole('heading', { level: 1, name: 'Loan Details' });
  return drawn;
}

/** The value of a term in a card. */
function fact(card: string, term: string) {
  const region = screen.getByRole('region', { name: card });
  return within(region).getByText(term, { selector: 'dt' }).nextElementSibling?.textContent.trim();
}

/** Numbers the entry of the browser's history as the router does, except in tests. */
const number = (idx: number) => window.history.replaceState({ idx }, '');

afterEach(() => window.history.replaceState(null, ''));

test('REQ-221 REQ-222 without a loan in navigation state it is not found, and no call is made', async () => {
  answer('get', '/api/v1/disbursements/pending', 200, []);
  const { user, router } = renderSlice(slice, '/loans/LN-1');
  expect(await screen.findByRole('alert')).toHaveTextContent('ErrorLoan not found');
  await user.click(screen.getByRole('button', { name: 'Back to Loans' }));
  expect(router.state.location.pathname).toBe('/pending-loans');
});

test('REQ-223 Back returns to the page before', async () => {
  const { user, router } = renderSlice(slice, '/from-here');
  await router.navigate('/loans/LN-1', { state: { loan: LOAN } });
  number(1);
  await user.click(await screen.findByRole('button', { name: 'Back' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/from-here'));
});

test('Back without history opens the list', async () => {
  answer('get', '/api/v1/disbursements/pending', 200, []);
  const { user, router } = await open(LOAN);
  await user.click(screen.getByRole('button', { name: 'Back' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/pending-loans'));
});

test.for([
  ['approved', 'Approved, Pending Disbursement', true],
  ['disbursed', 'Disbursed', false],
  ['rejected', 'Rejected', false],
  ['written_off', 'written_off', false],
  ['', 'Unknown', false],
] as const)(
  'REQ-224..228 a loan that is "%s" shows "%s", and can be paid out: %s',
  async ([status, label, isPayable]) => {
    await open({ ...LOAN, status });
    expect(screen.getByText(label)).toBeVisible();
    expect(screen.queryAllByRole('button', { name: 'Disburse Loan' })).toHaveLength(isPayable ? 1 : 0);
  },
);

test('REQ-232 REQ-233 the customer’s card has initial, name and grouped numbers', async () => {
  await open(LOAN);
  const card = screen.getByRole('region', { name: 'Customer' });
  // The initial is drawn by the style sheet.
  expect(card.querySelector('[data-initial="W"]')).toBeVisible();
  expect(within(card).getByText('Wanjiku Kamau')).toBeVisible();
  expect(fact('Customer', 'Customer ID')).toBe('CUS-00481');
  expect(fact('Customer', 'National ID')).toBe('2846 1937');
  expect(fact('Customer', 'Phone')).toBe('0712 3456 78');
});

test('REQ-234..240 the cards of the loan and the approval', async () => {
  await open(LOAN);
  expect(fact('Loan Information', 'Loan Amount')).toBe('KES 25,000');
  expect(fact('Loan Information', 'Term Length')).toBe('6 months');
  expect(fact('Loan Information', 'Interest Rate')).toBe('12%');
  expect(fact('Loan Information', 'Loan ID')).toBe('LN-1');
  expect(fact('Loan Information', 'Purpose')).toBe('Stock for shop');
  expect(fact('Approval Information', 'Approved Date')).toBe('12 Nov 2026');
  expect(fact('Approval Information', 'Approved By')).toBe('Achieng Otieno');
  expect(screen.queryByRole('region', { name: 'Disbursement Information' })).not.toBeInTheDocument();
});

test('REQ-235 REQ-238 REQ-240 missing values have a fallback', async () => {
  await open({ ...LOAN, term: null, purpose: '', approvedBy: null, approvedDate: '' });
  expect(fact('Loan Information', 'Term Length')).toBe('1 month');
  expect(fact('Loan Information', 'Purpose')).toBe('N/A');
  expect(fact('Approval Information', 'Approved By')).toBe('Supervisor');
  expect(fact('Approval Information', 'Approved Date')).toBe('N/A');
});

test('a loan whose amount can’t be read can’t be paid out, and the page says why', async () => {
  const loan = loanFrom(pendingLoan({ loan_id: 'LN-1', total_loan_amount: '25,000.00' as never }));
  const { user } = await open({ ...loan, interestRate: null });
  expect(fact('Loan Information', 'Loan Amount')).toBe('N/A');
  expect(fact('Loan Information', 'Interest Rate')).toBe('N/A');
  const button = screen.getByRole('button', { name: 'Disburse Loan' });
  expect(button).toBeDisabled();
  const reason = 'This loan can’t be disbursed, because its amount can’t be read. Tell your supervisor.';
  expect(screen.getByText(reason)).toBeVisible();
  expect(button).toHaveAccessibleDescription(reason);
  await user.click(button);
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
});

test('REQ-241..245 a disbursed loan shows its disbursement, due 30 days later', async () => {
  await open(DISBURSED);
  expect(fact('Disbursement Information', 'Disbursed Date')).toBe('14 Nov 2026');
  expect(fact('Disbursement Information', 'M-Pesa Reference')).toBe('UKE7Q2M9XA');
  expect(fact('Disbursement Information', 'Disbursed By')).toBe('Achieng Otieno');
  expect(fact('Disbursement Information', 'Due Date')).toBe('14 Dec 2026');
});

test('REQ-245 a loan that is paid out late in the evening is due 30 days later, also where clocks change meanwhile', async () => {
  setPortalSettings({ time_zone: 'Europe/London' });
  await open({ ...DISBURSED, disbursementDate: '2026-03-14T23:30:00.000Z' });
  expect(fact('Disbursement Information', 'Disbursed Date')).toBe('14 Mar 2026');
  expect(fact('Disbursement Information', 'Due Date')).toBe('13 Apr 2026');
});

test('REQ-243 REQ-244 a disbursement without reference and agent, or with an unreadable date, has fallbacks', async () => {
  await open({ ...DISBURSED, mpesaReference: '', disbursedBy: null, disbursementDate: 'soon' });
  expect(fact('Disbursement Information', 'Due Date')).toBe('N/A');
  expect(fact('Disbursement Information', 'M-Pesa Reference')).toBe('N/A');
  expect(fact('Disbursement Information', 'Disbursed By')).toBe('Agent');
});

test.for([
  ['without a date', { ...DISBURSED, disbursementDate: null }],
  ['for a loan that is not disbursed', { ...DISBURSED, status: 'approved' }],
] as const)('REQ-241 there is no disbursement card %s', async ([, loan]) => {
  await open(loan);
  expect(screen.queryByRole('region', { name: 'Disbursement Information' })).not.toBeInTheDocument();
});

test.for([
  ['Copy loan ID', 'LN-1'],
  ['Copy phone number', '0712345678'],
  ['Copy M-Pesa reference', 'UKE7Q2M9XA'],
] as const)('%s copies %s to the clipboard', async ([name, text]) => {
  const { user } = await open(DISBURSED);
  await user.click(screen.getByRole('button', { name }));
  expect(await navigator.clipboard.readText()).toBe(text);
  expect(await screen.findByText('Copied')).toBeInTheDocument();
});

describe('in a portal whose screens are live', () => {
  beforeEach(() => setPortalSettings({ screens: 'live' }));

  test('a link alone opens a pending loan, whose Back opens the list, though its entry was replaced', async () => {
    answer('get', '/api/v1/disbursements/pending', 200, [pendingLoan({ loan_id: 'LN-1' })]);
    answer('get', '/api/v1/disbursement-records', 200, []);
    const { user, router } = renderSlice(slice, '/loans/LN-1');
    number(0);
    expect(await screen.findByRole('button', { name: 'Disburse Loan' })).toBeVisible();
    expect(fact('Loan Information', 'Loan ID')).toBe('LN-1');
    expect(router.state.location.key).not.toBe('default');
    await user.click(screen.getByRole('button', { name: 'Back' }));
    await waitFor(() => expect(router.state.location.pathname).toBe('/pending-loans'));
  });

  test.for([
    ['is not listed', [], 0],
    ['is listed', [pendingLoan({ loan_id: 'LN-1' })], 1],
  ] as const)('behind 100 later payouts, a loan that %s is offered %s times', async ([, pending, offers]) => {
    const later = disbursementRecord({ id: 'PAY-2', loan_id: 'LN-2' });
    const records = [...Array<typeof later>(100).fill(later), disbursementRecord({ loan_id: 'LN-1' })];
    const limits: (string | null)[] = [];
    provider.use(
      http.get('*/api/v1/disbursement-records', ({ request }) => {
        const limit = new URL(request.url).searchParams.get('limit');
        limits.push(limit);
        return HttpResponse.json(records.slice(0, limit ? Number(limit) : undefined));
      }),
    );
    answer('get', '/api/v1/disbursements/pending', 200, [...pending]);
    await open(LOAN);
    await waitFor(() =>
      expect(screen.queryAllByRole('button', { name: 'Disburse Loan' })).toHaveLength(offers),
    );
    await waitFor(() => expect(queryClient.isFetching()).toBe(0));
    expect(limits).toEqual(offers ? ['100'] : ['100', null]);
  });

  test('a link to a loan that is not pending says that there is none', async () => {
    answer('get', '/api/v1/disbursements/pending', 200, []);
    renderSlice(slice, '/loans/LN-1');
    expect(await screen.findByText('Loan not found')).toBeVisible();
  });
});
