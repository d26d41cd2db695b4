import { pendingLoan } from 'mfe-kit/testing';
import { NO_FILTERS } from 'mfe-kit/ui-data';
import { expect, test } from 'vitest';
import { loanFrom } from '../loan/loan';
import { BANDS, type LoanListState, selectLoans } from './select-loans';

const loan = (id: string, first: string, amount: number, approved_at = '2026-11-12T08:00:00Z') =>
  loanFrom(
    pendingLoan({
      loan_id: id,
      customer_first_name: first,
      customer_last_name: 'Kamau',
      customer_phone_number: `+25471200000${id.slice(-1)}`,
      customer_id_number: `2846193${id.slice(-1)}`,
      total_loan_amount: amount,
      approved_at,
    }),
  );

const select = (loans: ReturnType<typeof loan>[], given: Partial<LoanListState>) =>
  selectLoans(loans, { search: '', band: 'all', sort: null, filters: NO_FILTERS, ...given }).map(
    ({ id }) => id,
  );

test.for([
  [24_999, 'below'],
  [25_000, 'middle'],
  [75_000, 'middle'],
  [75_001, 'above'],
] as const)('REQ-203 KES %d is in the band %s and in no other', ([amount, band]) => {
  const bands = BANDS.filter((value) => value !== 'all');
  expect(bands.filter((value) => select([loan('LN-1', 'A', amount)], { band: value }).length === 1)).toEqual([
    band,
  ]);
});

const LOANS = [loan('LN-1', 'Wanjiku', 10), loan('LN-2', 'Brian', 20)];

test.for([
  ['REQ-204 the name, whatever its case', 'wANJ', ['LN-1']],
  ['REQ-204 first and last name together', 'brian kam', ['LN-2']],
  ['REQ-205 the loan id, whatever its case', 'ln-2', ['LN-2']],
  ['REQ-206 the phone as sent', '+254712000001', ['LN-1']],
  ['REQ-206 the phone as shown', '0712000002', ['LN-2']],
  ['REQ-207 the national id', '28461932', ['LN-2']],
  ['blanks around the words', '  brian ', ['LN-2']],
  ['nothing that is in no field', 'zzz', []],
] as const)('search finds %s', ([, search, ids]) => {
  expect(select(LOANS, { search })).toEqual(ids);
});

const TYPED = [loan('LN-1', "Ng'ang\u02bca", 1), loan('LN-2', 'Wanjikũ', 2), loan('LN-3', 'Amélie\u00a0', 3)];

test.for([
  ['Ng’ang‘a', ['LN-1']],
  ['wanjiku\u0303 kamau', ['LN-2']],
  ['wanjiku', ['LN-2']],
  ['amelie  kamau', ['LN-3']],
  ['0712 0000 03', ['LN-3']],
  ['+254 712-000 002', ['LN-2']],
  ['254712000001', ['LN-1']],
  ['2846 1931', ['LN-1']],
] as const)('search finds what people type: %s', ([search, ids]) => {
  expect(select(TYPED, { search })).toEqual(ids);
});

const MIXED = [
  loan('LN-1', 'wanjiku', 9, '2026-11-12T08:00:00+03:00'),
  loan('LN-2', 'Álvaro', 100, '2026-11-12T06:00:00Z'),
  loan('LN-3', 'Brian', 20, ''),
];

test.for([
  ['customer.name', 'ascending', ['LN-2', 'LN-3', 'LN-1']],
  ['customer.name', 'descending', ['LN-1', 'LN-3', 'LN-2']],
  ['amount', 'ascending', ['LN-1', 'LN-3', 'LN-2']],
  ['amount', 'descending', ['LN-2', 'LN-3', 'LN-1']],
  ['approvedDate', 'ascending', ['LN-1', 'LN-2', 'LN-3']],
  ['approvedDate', 'descending', ['LN-2', 'LN-1', 'LN-3']],
] as const)(
  'REQ-212 REQ-214 by %s, %s: names as text, the rest as numbers, missing last',
  ([key, direction, ids]) => {
    expect(select(MIXED, { sort: { key, direction } })).toEqual(ids);
  },
);

test('without a sort the list keeps the provider’s order', () => {
  expect(select(MIXED, {})).toEqual(['LN-1', 'LN-2', 'LN-3']);
});
