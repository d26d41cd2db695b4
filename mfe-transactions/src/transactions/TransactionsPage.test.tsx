import { answer, disbursementRecord, renderSlice, screen } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import slice from '../slice';

const RECORDS = Array.from({ length: 20 }, (_, index) =>
  disbursementRecord({
    id: `PAY-${index + 1}`,
    loan_id: `LN-${index + 1}`,
    status: index % 2 === 0 ? 'COMPLETED' : 'FAILED',
    mpesa_ref: index % 2 === 0 ? `UKE${index + 1}` : null,
  }),
);

async function open(address = '/transactions', records = RECORDS) {
  answer('get', '/api/v1/disbursement-records', 200, records);
  const drawn = renderSlice(slice, address);
  await screen.findByRole('heading', { name: 'Transaction History' });
  return drawn;
}

test('REQ-275 REQ-299 REQ-303 the first seven are shown, and how many there are', async () => {
  await open();
  expect(screen.getByText('20 transaction(s) found')).toBeVisible();
  expect(screen.getAllByRole('row')).toHaveLength(1 + 7);
  expect(screen.getByText('Showing 1 to 7 of 20 results')).toBeVisible();
});

test('REQ-285 the last column keeps its misspelt title', async () => {
  await open();
  expect(screen.getAllByRole('columnheader').at(-1)).toHaveTextContent(/^Dibursed By$/);
});

test('REQ-288 REQ-291 a search leads back to the first page and finds receipts', async () => {
  const { user } = await open('/transactions?page=3');
  expect(screen.getByText('Showing 15 to 20 of 20 results')).toBeVisible();
  await user.type(screen.getByPlaceholderText('Search transactions...'), 'uke19');
  expect(screen.getByText('Showing 1 to 1 of 1 results')).toBeVisible();
});

test('REQ-289 an address with a status shows those only', async () => {
  await open('/transactions?status=failed');
  expect(screen.getByText('10 transaction(s) found')).toBeVisible();
});

test('REQ-294 REQ-295 an empty list says why it is empty', async () => {
  const { user } = await open('/transactions', []);
  expect(screen.getByText('Transactions will appear here once loans are disbursed')).toBeVisible();
  await user.type(screen.getByPlaceholderText('Search transactions...'), 'x');
  expect(screen.getByText('Try adjusting your search or filters')).toBeVisible();
});
