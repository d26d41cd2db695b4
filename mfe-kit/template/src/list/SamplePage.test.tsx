import { answer, pendingLoan, renderSlice, screen, unreachable } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import slice from '../slice';

const PENDING = '/api/v1/disbursements/pending';

test('it lists the pending loans', async () => {
  answer('get', PENDING, 200, [pendingLoan()]);
  renderSlice(slice, '/sample');
  expect(await screen.findByRole('listitem')).toHaveTextContent('Wanjiku Kamau');
  expect(screen.getByText('1 loan(s)')).toBeVisible();
});

test('it says that there are none', async () => {
  answer('get', PENDING, 200, []);
  renderSlice(slice, '/sample');
  expect(await screen.findByText('No pending loans')).toBeVisible();
});

test('it says that the list could not be read', async () => {
  unreachable('get', PENDING);
  renderSlice(slice, '/sample');
  expect(await screen.findByRole('alert')).toBeVisible();
});
