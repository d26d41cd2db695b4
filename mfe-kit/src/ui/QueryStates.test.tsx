import { useQuery } from '@tanstack/react-query';
import { api, type FailureTexts, listOf, queryClient, setPortalSettings } from 'mfe-kit';
import {
  answer,
  failure,
  hold,
  pendingLoan,
  renderPart,
  screen,
  unreachable,
  waitFor,
} from 'mfe-kit/testing';
import { act } from 'react';
import { expect, test } from 'vitest';
import { QueryStates } from './QueryStates';

const PENDING = '/api/v1/disbursements/pending';
const TEXTS: FailureTexts = { reads: 'message', withoutText: 'Failed to fetch', otherwise: 'Failed to load' };

function Loans() {
  const query = useQuery({ queryKey: ['sample'], queryFn: () => listOf(api.GET(PENDING)) });
  return (
    <QueryStates query={query} failure={TEXTS} header={<h1>Loans</h1>}>
      {(loans) => (
        <label>
          <span>{loans.length} loan(s)</span>
          <input aria-label="Note" />
        </label>
      )}
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

/** Draws a list whose next read fails, and types beside it. */
async function failAgain() {
  answer('get', PENDING, 200, [pendingLoan()]);
  const { user } = renderPart(
    <>
      <h1>Portfolio</h1>
      <Loans />
    </>,
  );
  await user.type(await screen.findByLabelText('Note'), 'call first');
  unreachable('get', PENDING);
  await act(() => queryClient.refetchQueries());
  return user;
}

test('where screens are live, what could not be read again stays, with what is typed, until Retry has read it', async () => {
  setPortalSettings({ screens: 'live' });
  const user = await failAgain();
  const line = await screen.findByRole('status');
  expect(line).toHaveTextContent('This could not be read again and may be out of date.');
  expect(screen.getByText('1 loan(s)')).toBeVisible();
  expect(screen.getByLabelText('Note')).toHaveValue('call first');
  expect(screen.getByLabelText('Note')).toHaveFocus();
  answer('get', PENDING, 200, [pendingLoan(), pendingLoan()]);
  await user.click(screen.getByRole('button', { name: 'Retry' }));
  expect(await screen.findByText('2 loan(s)')).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('status')).toBeNull());
  expect(screen.getByLabelText('Note')).toHaveValue('call first');
  // Retry had the focus, and is gone.
  expect(screen.getByRole('heading', { name: 'Portfolio' })).toHaveFocus();
});

test('of two lists that could not be read again, one line says so', async () => {
  setPortalSettings({ screens: 'live' });
  answer('get', PENDING, 200, [pendingLoan()]);
  function Both() {
    const query = useQuery({ queryKey: ['other'], queryFn: () => listOf(api.GET(PENDING)) });
    return (
      <QueryStates query={query} failure={TEXTS}>
        {() => <Loans />}
      </QueryStates>
    );
  }
  const { user } = renderPart(<Both />);
  await screen.findByText('1 loan(s)');
  unreachable('get', PENDING);
  await act(() => queryClient.refetchQueries());
  expect(await screen.findAllByRole('status')).toHaveLength(1);
  const held = hold();
  answer('get', PENDING, 200, [pendingLoan(), pendingLoan()], { until: held.back });
  const retry = screen.getByRole('button', { name: 'Retry' });
  await user.click(retry);
  expect(retry).toHaveAttribute('aria-busy', 'true');
  held.release();
  expect(await screen.findByText('2 loan(s)')).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('status')).toBeNull());
});

test('where they are as specified, the failure takes its place', async () => {
  await failAgain();
  expect(await screen.findByRole('alert')).toHaveTextContent(/^ErrorFailed to fetch$/);
  expect(screen.queryByText('1 loan(s)')).toBeNull();
});
