import { answer, failure, pendingLoan, renderSlice, screen, within } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import slice from '../slice';

const LOANS = [
  pendingLoan({
    loan_id: 'LN-1',
    customer_first_name: 'Wanjiku',
    customer_last_name: 'Kamau',
    total_loan_amount: 25_000,
  }),
  pendingLoan({
    loan_id: 'LN-2',
    customer_first_name: 'Brian',
    customer_last_name: 'Kiptoo',
    total_loan_amount: 75_000,
  }),
  pendingLoan({
    loan_id: 'LN-3',
    customer_first_name: 'Fatuma',
    customer_last_name: 'Hassan',
    total_loan_amount: 142_000,
    approver_name: null,
  }),
];

async function open(address = '/pending-loans', loans = LOANS) {
  answer('get', '/api/v1/disbursements/pending', 200, loans);
  const drawn = renderSlice(slice, address);
  await screen.findByRole('heading', { name: 'Pending Disbursements' });
  return drawn;
}

function shownCustomers() {
  const [, ...rows] = screen.getAllByRole('row');
  return rows.map((row) => /Wanjiku|Brian|Fatuma/.exec(row.textContent)?.[0]);
}

test('REQ-197 REQ-208 REQ-210 every loan has its row, and the title its count', async () => {
  await open();
  expect(screen.getByText('3 loan(s) pending disbursement')).toBeVisible();
  const row = screen.getByRole('row', { name: /Fatuma Hassan/ });
  expect(within(row).getByText('0712345678')).toBeVisible();
  expect(within(row).getByText('KES 142,000')).toBeVisible();
  expect(within(row).getByText('N/A')).toBeVisible();
});

test('REQ-213 a header sorts ascending first and then to and fro, by Space as well', async () => {
  const { user } = await open();
  const header = screen.getByRole('button', { name: 'Customer' });
  await user.click(header);
  expect(shownCustomers()).toEqual(['Brian', 'Fatuma', 'Wanjiku']);
  await user.keyboard(' ');
  expect(shownCustomers()).toEqual(['Wanjiku', 'Fatuma', 'Brian']);
  await user.keyboard('{Enter}');
  expect(shownCustomers()).toEqual(['Brian', 'Fatuma', 'Wanjiku']);
});

test('REQ-204 REQ-217 REQ-218 search narrows the list, to nothing if need be, and stands in the address', async () => {
  const { user, router } = await open();
  const search = screen.getByPlaceholderText('Search by name, ID, phone...');
  await user.type(search, 'kip');
  expect(shownCustomers()).toEqual(['Brian']);
  expect(screen.getByText('Showing 1 of 3 results')).toBeVisible();
  expect(router.state.location.search).toBe('?search=kip');
  await user.type(search, 'xx');
  expect(screen.getByText('No matching loans found')).toBeVisible();
});

test('REQ-203 an address with a band shows the loans in it', async () => {
  await open('/pending-loans?band=middle');
  expect(shownCustomers()).toEqual(['Wanjiku', 'Brian']);
});

test('REQ-216 without loans it says that all are disbursed', async () => {
  await open('/pending-loans', []);
  expect(screen.getByText('All approved loans have been disbursed')).toBeVisible();
});

test('REQ-199 a failure shows the server’s words and a Retry', async () => {
  answer('get', '/api/v1/disbursements/pending', 503, failure('The service is busy', 'busy'));
  renderSlice(slice, '/pending-loans');
  expect(await screen.findByRole('alert')).toHaveTextContent('ErrorThe service is busyRetry');
});
