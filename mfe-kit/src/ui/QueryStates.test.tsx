import { useQuery } from '@tanstack/react-query';
import { api, type FailureTexts, listOf } from 'mfe-kit';
import { answer, failure, hold, pendingLoan, renderPart, screen, unreachable } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { QueryStates } from './QueryStates';

const PENDING = '/api/v1/disbursements/pending';
const TEXTS: FailureTexts = { reads: 'message', withoutText: 'Failed to fetch', otherwise: 'Failed to load' };

function Loans() {
  const query = useQuery({ queryKey: ['sample'], queryFn: () => listOf(api.GET(PENDING)) });
  return (
    <QueryStates query={query} failure={TEXTS} header={<h1>Loans</h1>}>
      {(loans) => <p>{loans.length} loan(s)</p>}
    </QueryStates>
  );
}

test('the header stands above the spinner until the data replaces both', async () => {
  const held = hold();
  answer('get', PENDING, 200, [pendingLoan()], { until: held.back });
  renderPart(<Loans />);
  expect(await screen.findByRole('heading', { name: 'Loans' })).toBeVisible();
  expect(await screen.findByRole('status')).toBeVisible();
  held.release();
  expect(await screen.findByText('1 loan(s)')).toBeVisible();
  expect(screen.queryByRole('heading')).toBeNull();
});

test('a failure of the server names the request, which is not announced', async () => {
  answer('get', PENDING, 503, failure('The service is busy', 'busy'));
  renderPart(<Loans />);
  expect(await screen.findByRole('alert')).toHaveTextContent(/^ErrorThe service is busy$/);
  expect(screen.getByText('req-test')).toBeVisible();
});

test('the header stands above the failure, in the texts that are given', async () => {
  unreachable('get', PENDING);
  renderPart(<Loans />);
  expect(await screen.findByRole('alert')).toHaveTextContent(/^ErrorFailed to fetch$/);
  expect(screen.getByRole('heading', { name: 'Loans' })).toBeVisible();
});
