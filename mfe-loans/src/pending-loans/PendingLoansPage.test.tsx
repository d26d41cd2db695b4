import { fireEvent } from '@testing-library/react';
import { queryClient, queryKeys, setPortalSettings } from 'mfe-kit';
import {
  answer,
  garbled,
  hold,
  pendingLoan,
  renderSlice,
  screen,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { act } from 'react';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import slice from '../slice';

const PENDING = '/api/v1/disbursements/pending';

const LOANS = [
  pendingLoan({ loan_id: 'LN-1' }),
  pendingLoan({
    loan_id: 'LN-2',
    customer_first_name: 'Brian',
    customer_last_name: 'Kiptoo',
    total_loan_amount: 75_000,
    approved_at: '2026-11-10T08:15:30.000Z',
  }),
  pendingLoan({
    loan_id: 'LN-3',
    customer_first_name: 'Fatuma',
    customer_last_name: 'Hassan',
    total_loan_amount: 142_000,
    approved_at: '2026-11-11T08:15:30.000Z',
    approver_name: null,
  }),
];

async function open(address = '/pending-loans', loans = LOANS) {
  answer('get', PENDING, 200, loans);
  const drawn = renderSlice(slice, address);
  await screen.findByText(`${loans.length} loan(s) pending disbursement`);
  return drawn;
}

function shownCustomers() {
  const [, ...rows] = screen.getAllByRole('row');
  return rows.map((row) => /Wanjiku|Brian|Fatuma/.exec(row.textContent)?.[0]);
}

test('REQ-197 REQ-208..210 REQ-219 REQ-220 every loan has a row on the only page, and the title has the count', async () => {
  await open();
  expect(screen.getByRole('heading', { level: 1, name: 'Pending Disbursements' })).toBeVisible();
  expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
    'Customer',
    'Loan Amount',
    'Approved Date',
    'Approved By',
    'Actions',
  ]);
  const cells = within(screen.getByRole('row', { name: /Wanjiku Kamau/ })).getAllByRole('cell');
  expect(cells.map(({ textContent }) => textContent)).toEqual([
    'Wanjiku Kamau0712345678ID 28461937',
    'KES 25,0006 months · 12%',
    '12 Nov 2026',
    'Achieng Otieno',
    'View Details',
  ]);
  const withoutApprover = screen.getByRole('row', { name: /Fatuma Hassan/ });
  expect(within(withoutApprover).getByText('N/A')).toBeVisible();
  const pages = screen.getByRole('navigation', { name: 'Pages' });
  expect(within(pages).getByRole('button', { name: 'Page 1' })).toHaveAttribute('aria-current', 'page');
  expect(within(pages).getByRole('button', { name: 'Previous page' })).toBeDisabled();
  expect(within(pages).getByRole('button', { name: 'Next page' })).toBeDisabled();
});

test('REQ-198 the first load shows a spinner', async () => {
  const held = hold();
  answer('get', PENDING, 200, LOANS, { until: held.back });
  renderSlice(slice, '/pending-loans');
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeInTheDocument();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
  held.release();
  expect(await screen.findByRole('table')).toHaveAccessibleName('Pending disbursements');
});

test('REQ-198 a refetch keeps the rows under a spinner', async () => {
  await open();
  const held = hold();
  answer('get', PENDING, 200, LOANS.slice(1), { until: held.back });
  act(() => void queryClient.invalidateQueries({ queryKey: queryKeys.pendingLoans }));
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeInTheDocument();
  expect(shownCustomers()).toEqual(['Wanjiku', 'Brian', 'Fatuma']);
  held.release();
  await screen.findByText('2 loan(s) pending disbursement');
  expect(screen.queryByRole('status', { name: 'Loading' })).not.toBeInTheDocument();
});

test('REQ-199 REQ-220 a failure shows its text and a Retry', async () => {
  unreachable('get', PENDING);
  renderSlice(slice, '/pending-loans');
  expect(await screen.findByRole('alert')).toHaveTextContent('ErrorFailed to fetch pending disbursements');
  expect(screen.getByRole('button', { name: 'Retry' })).toBeEnabled();
});

test('REQ-200 REQ-204 REQ-218 search filters the list and is in the address', async () => {
  const { user, router } = await open();
  await user.type(screen.getByPlaceholderText('Search by name, ID, phone...'), 'KIP');
  expect(shownCustomers()).toEqual(['Brian']);
  expect(screen.getByText('Showing 1 of 3 results')).toBeVisible();
  expect(screen.getByText('3 loan(s) pending disbursement')).toBeVisible();
  await waitFor(() => expect(router.state.location.search).toBe('?search=KIP'));
});

test('REQ-217 a search without results says so', async () => {
  await open('/pending-loans?search=no-match');
  expect(screen.getByText('No matching loans found')).toBeVisible();
  expect(screen.getByText('Try adjusting your search or filters')).toBeVisible();
  expect(screen.getByText('Showing 0 of 3 results')).toBeVisible();
});

test('REQ-216 an empty list says that all loans are disbursed', async () => {
  await open('/pending-loans', []);
  expect(screen.getByText('No pending disbursements')).toBeVisible();
  expect(screen.getByText('All approved loans have been disbursed')).toBeVisible();
});

test('REQ-202 REQ-203 the list has four amount bands, and the chosen one is in the address', async () => {
  const { user, router } = await open();
  const box = screen.getByRole('combobox', { name: 'Amount' });
  await user.click(box);
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    'All Amounts',
    'Below KES 25,000',
    'KES 25,000 - 75,000',
    'Above KES 75,000',
  ]);
  await user.click(screen.getByTitle('KES 25,000 - 75,000'));
  expect(shownCustomers()).toEqual(['Wanjiku', 'Brian']);
  await waitFor(() => expect(router.state.location.search).toBe('?band=middle'));
});

test('REQ-201 Filter does nothing', async () => {
  const { user, router } = await open();
  const before = router.state.location.key;
  await user.click(screen.getByRole('button', { name: 'Filter' }));
  expect(shownCustomers()).toEqual(['Wanjiku', 'Brian', 'Fatuma']);
  expect(router.state.location.key).toBe(before);
});

test('REQ-211 REQ-213 a header sorts ascending first and then alternates, also with Enter and Space', async () => {
  const { user, router } = await open();
  const header = screen.getByRole('button', { name: 'Customer' });
  await user.click(header);
  expect(shownCustomers()).toEqual(['Brian', 'Fatuma', 'Wanjiku']);
  expect(screen.getByRole('columnheader', { name: 'Customer' })).toHaveAttribute('aria-sort', 'ascending');
  await user.keyboard(' ');
  expect(shownCustomers()).toEqual(['Wanjiku', 'Fatuma', 'Brian']);
  await user.keyboard('{Enter}');
  expect(shownCustomers()).toEqual(['Brian', 'Fatuma', 'Wanjiku']);
  await waitFor(() => expect(router.state.location.search).toBe('?sort=customer.name%3Aascending'));
});

test('REQ-211 REQ-212 amount and approved date are sortable, approver and actions are not', async () => {
  const { user } = await open();
  await user.click(screen.getByRole('button', { name: 'Loan Amount' }));
  await user.click(screen.getByRole('button', { name: 'Loan Amount' }));
  expect(shownCustomers()).toEqual(['Fatuma', 'Brian', 'Wanjiku']);
  await user.click(screen.getByRole('button', { name: 'Approved Date' }));
  expect(shownCustomers()).toEqual(['Brian', 'Fatuma', 'Wanjiku']);
  expect(screen.queryByRole('button', { name: 'Approved By' })).not.toBeInTheDocument();
  expect(screen.queryByRole('button', { name: 'Actions' })).not.toBeInTheDocument();
});

test('the address keeps search, band and sort', async () => {
  const { user, router } = await open('/pending-loans?search=a&band=above&sort=amount:descending');
  expect(shownCustomers()).toEqual(['Fatuma']);
  await act(() => router.navigate('/pending-loans?sort=customer.name:descending'));
  expect(shownCustomers()).toEqual(['Wanjiku', 'Fatuma', 'Brian']);
  await user.click(screen.getAllByRole('link', { name: 'View Details' })[0]!);
  await screen.findByRole('heading', { name: 'Loan Details' });
  // As the router numbers the entry in a browser.
  window.history.replaceState({ idx: 1 }, '');
  onTestFinished(() => window.history.replaceState(null, ''));
  await user.click(screen.getByRole('button', { name: 'Back' }));
  await screen.findByRole('table');
  expect(shownCustomers()).toEqual(['Wanjiku', 'Fatuma', 'Brian']);
});

test('clicks right after typing keep what was typed, and each other', async () => {
  const { router } = await open('/pending-loans?from=mail');
  act(() => {
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'a' } });
    fireEvent.click(screen.getByRole('button', { name: 'Customer' }));
    fireEvent.click(screen.getByRole('button', { name: 'Customer' }));
  });
  await waitFor(() =>
    expect(router.state.location.search).toBe('?from=mail&search=a&sort=customer.name%3Adescending'),
  );
  expect(shownCustomers()).toEqual(['Wanjiku', 'Fatuma', 'Brian']);
});

test('an address with invalid values shows the whole list', async () => {
  await open('/pending-loans?band=huge&sort=colour:sideways');
  expect(shownCustomers()).toEqual(['Wanjiku', 'Brian', 'Fatuma']);
});

test('REQ-215 View Details passes the loan as navigation state', async () => {
  const { user, router } = await open();
  await user.click(screen.getAllByRole('link', { name: 'View Details' })[1]!);
  expect(router.state.location.pathname).toBe('/loans/LN-2');
  expect(router.state.location.state).toMatchObject({ loan: { id: 'LN-2', amount: 75_000 } });
});

test('a click anywhere on a row opens its loan, unless it ends a selection of text', async () => {
  const { user, router } = await open();
  const cell = () => screen.getByText('12 Nov 2026');
  const selected = vi.spyOn(window, 'getSelection').mockReturnValue({ isCollapsed: false } as Selection);
  await user.click(cell());
  expect(router.state.location.pathname).toBe('/pending-loans');
  selected.mockRestore();
  await user.click(cell());
  await waitFor(() => expect(router.state.location.pathname).toBe('/loans/LN-1'));
  expect(router.state.location.state).toMatchObject({ loan: { id: 'LN-1' } });
});

test('REQ-368 the list stays fresh for two minutes', async () => {
  await open();
  const { options } = queryClient.getQueryCache().find({ queryKey: queryKeys.pendingLoans })!;
  expect(options).toMatchObject({ staleTime: 120_000 });
});

test('a long list renders only the rows near the window, each with its row index', async () => {
  const many = Array.from({ length: 250 }, (_, index) => pendingLoan({ loan_id: `LN-${index}` }));
  const { user } = await open('/pending-loans', many);
  const table = screen.getByRole('table');
  expect(table).toHaveAttribute('aria-rowcount', '251');
  // Asking for 250 rows by their role takes longer than drawing them.
  const drawn = () => [...table.querySelectorAll('tr[aria-rowindex]')];
  expect(drawn()).toHaveLength(20);
  expect(drawn()[0]).toHaveAttribute('aria-rowindex', '2');
  await user.keyboard('{Control>}f{/Control}');
  await waitFor(() => expect(drawn()).toHaveLength(250));
});

test('a row that can’t be read costs that row, is counted and reported, and search and the rest of the list work', async () => {
  const reported = vi.spyOn(console, 'error').mockReturnValue();
  const odd = { loan_id: 4, customer_phone_number: 254712345678, customer_id_number: 28461937 };
  garbled('get', PENDING, JSON.stringify([...LOANS, odd, null, 'LN-6']));
  const { user } = renderSlice(slice, '/pending-loans');
  await screen.findByText('4 loan(s) pending disbursement');
  expect(screen.getByText('2 rows can’t be read')).toBeVisible();
  expect(reported).toHaveBeenCalledWith('2 of 6 rows of a list could not be read');
  const unreadable = screen.getAllByRole('row', { name: /This row could not be read/ });
  expect(unreadable).toHaveLength(2);
  expect(within(unreadable[0]!).queryByRole('link')).not.toBeInTheDocument();
  await user.type(screen.getByRole('searchbox'), '0712 3456');
  expect(await screen.findByText('Showing 4 of 4 results')).toBeVisible();
  expect(screen.queryByText('This row could not be read')).toBeNull();
  await user.click(within(screen.getByRole('row', { name: /^N\/A/ })).getByRole('link'));
  expect(await screen.findByText('0712 3456 78')).toBeVisible();
});

test('a loan whose amount can’t be read says so, is in no band, and comes last', async () => {
  const { user } = await open('/pending-loans', [
    pendingLoan({ loan_id: 'LN-4', customer_first_name: 'Achieng', total_loan_amount: '25,000.00' as never }),
    ...LOANS,
  ]);
  const row = screen.getByRole('row', { name: /Achieng Kamau/ });
  expect(within(row).getAllByRole('cell')[1]).toHaveTextContent('N/A6 months · 12%');
  await user.click(screen.getByRole('button', { name: 'Loan Amount' }));
  expect(screen.getAllByRole('row').at(-1)).toBe(screen.getByRole('row', { name: /Achieng Kamau/ }));
  await user.click(screen.getByRole('combobox', { name: 'Amount' }));
  await user.click(screen.getByRole('option', { name: 'Below KES 25,000' }));
  expect(await screen.findByText('Showing 0 of 4 results')).toBeVisible();
});

test('a loan whose payout is in progress is listed, and says so', async () => {
  await open('/pending-loans', [pendingLoan({ disbursement_status: 'PENDING' }), ...LOANS]);
  expect(screen.getAllByText('In progress')).toHaveLength(1);
});

describe('in a portal whose screens are live', () => {
  beforeEach(() => setPortalSettings({ screens: 'live' }));

  test('Filter narrows the list by date, amount and approver, counts what is set, and is in the address', async () => {
    const { router, user } = await open();
    const button = screen.getByRole('button', { name: 'Filter' });
    expect(button).toHaveAttribute('aria-expanded', 'false');
    await user.click(button);
    const panel = screen.getByRole('group', { name: 'Filter' });
    await user.type(await within(panel).findByLabelText('Approved from'), '2026-11-11');
    expect(shownCustomers()).toEqual(['Wanjiku', 'Fatuma']);
    await user.type(within(panel).getByLabelText('Amount from'), '25,001');
    expect(shownCustomers()).toEqual(['Fatuma']);
    await user.click(within(panel).getByLabelText('Approved by'));
    const options = screen.getAllByRole('option').map(({ textContent }) => textContent);
    expect(options).toEqual(['Anyone', 'Achieng Otieno (2)', 'N/A (1)']);
    await user.click(screen.getByRole('option', { name: 'Achieng Otieno (2)' }));
    expect(screen.getByText('No matching loans found')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Filter 3 set' })).toBeVisible();
    expect(screen.getByText('Showing 0 of 3 results')).toBeVisible();
    await waitFor(() =>
      expect(router.state.location.search).toBe('?from=2026-11-11&min=25001&approver=Achieng+Otieno'),
    );
  });

  test('a person is found as the search finds names, and a name does not turn its number round', async () => {
    const named = (approver_name: string) => pendingLoan({ loan_id: approver_name, approver_name });
    const turned = '\u202eeoJ';
    const { user } = await open('/pending-loans', ["Ng'ang\u02bca  Mwangi", 'Amélie', turned].map(named));
    await user.click(screen.getByRole('button', { name: 'Filter' }));
    const box = await screen.findByLabelText('Approved by');
    const options = () => screen.getAllByRole('option').map(({ textContent }) => textContent);
    await user.click(box);
    expect(options()).toContain(`\u2068${turned}\u2069 (1)`);
    await user.type(box, 'ng’ang’a mwa');
    expect(options()).toEqual(["Ng'ang\u02bca  Mwangi (1)"]);
    await user.clear(box);
    await user.type(box, 'amelie');
    await user.click(screen.getByRole('option', { name: 'Amélie (1)' }));
    expect(screen.getByText('Showing 1 of 3 results')).toBeVisible();
    await user.type(box, 'nobody');
    expect(screen.queryAllByRole('option')).toEqual([]);
  });

  test('Clear filters restores the list, and Escape closes the panel; the focus is on the button', async () => {
    const { router, user } = await open('/pending-loans?to=2026-11-11&max=100000');
    expect(shownCustomers()).toEqual(['Brian']);
    const button = screen.getByRole('button', { name: 'Filter 2 set' });
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    expect(shownCustomers()).toEqual(['Wanjiku', 'Brian', 'Fatuma']);
    expect(button).toHaveFocus();
    expect(screen.queryByRole('button', { name: 'Clear filters' })).toBeNull();
    await waitFor(() => expect(router.state.location.search).toBe(''));

    await user.keyboard('{Enter}');
    await user.click(await screen.findByLabelText('Amount to'));
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('group', { name: 'Filter' })).toBeNull();
    expect(button).toHaveFocus();
  });

  test('an amount is read as people write it', async () => {
    const { user } = await open();
    await user.click(screen.getByRole('button', { name: 'Filter' }));
    const amount = await screen.findByLabelText('Amount from');
    for (const written of ['KES 75,001', 'kes75001', ' 75,001.00 ', '75 001.']) {
      await user.clear(amount);
      await user.paste(written);
      expect(shownCustomers(), written).toEqual(['Fatuma']);
    }
    await user.tab();
    expect(amount).toHaveValue('75001');
  });

  test('an amount that can’t be read stays, says so and filters nothing, until the filters are cleared', async () => {
    const { user } = await open('/pending-loans?to=2026-11-30');
    await user.click(screen.getByRole('button', { name: 'Filter 1 set' }));
    const amount = await screen.findByLabelText('Amount from');
    for (const written of ['-75001', '75,001.50', '75.001', '1,000,000,000', 'a lot']) {
      await user.clear(amount);
      await user.paste(written);
      await user.tab();
      expect(amount).toHaveValue(written);
      expect(amount).toHaveAccessibleDescription('Enter an amount in whole KES, at most 999,999,999.');
      expect(shownCustomers(), written).toHaveLength(3);
    }
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    expect(screen.getByLabelText('Amount from')).toHaveValue('');
  });

  test('a range whose end is before its start says so', async () => {
    const { user } = await open('/pending-loans?from=2026-11-12&to=2026-11-10&min=9&max=8');
    await user.click(screen.getByRole('button', { name: 'Filter 2 set' }));
    expect(await screen.findByLabelText('Approved to')).toHaveAccessibleDescription(
      'This day is before the first one.',
    );
    expect(screen.getByLabelText('Amount to')).toHaveAccessibleDescription(
      'This amount is below the first one.',
    );
  });
});

test('in a portal as specified, the address sets no filters', async () => {
  await open('/pending-loans?from=2027-01-01');
  expect(shownCustomers()).toHaveLength(3);
});
