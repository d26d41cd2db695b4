import { disbursementRecord } from 'mfe-kit/testing';
import { NO_FILTERS } from 'mfe-kit/ui-data';
import { expect, test } from 'vitest';
import { transactionFrom } from '../transaction/transaction';
import { isFiltering, selectTransactions, type TransactionFilter } from './select-transactions';

const EVERYTHING: TransactionFilter = { search: '', status: 'all', type: 'all', filters: NO_FILTERS };

const BY_WANJIRU = { mpesa_ref: null, user_first_name: 'Wanjiru', user_last_name: 'Maina' };

const transactions = [
  disbursementRecord({ id: 'PAY-00001', loan_id: 'LN-2026-00917', mpesa_ref: 'UKE7Q2M9XA' }),
  disbursementRecord({ ...BY_WANJIRU, id: 'PAY-00002', loan_id: 'LN-2026-00404', status: 'FAILED' }),
  disbursementRecord({ ...BY_WANJIRU, id: 'PAY-00003', loan_id: 'LN-2026-00405', status: 'PENDING' }),
].map(transactionFrom);

const found = (filter: Partial<TransactionFilter>) =>
  selectTransactions(transactions, { ...EVERYTHING, ...filter }).map(({ id }) => id.slice(-1));

test.for([
  ['its id', 'pay-00002', ['2']],
  ['its loan id', 'ln-2026-00917', ['1']],
  ['its reference', 'uke7q2', ['1']],
  ['the performer’s username', 'ACHIENG OT', ['1']],
  ['a part that several have', '0040', ['2', '3']],
  ['blanks around it', '  Wanjiru  ', ['2', '3']],
] as const)('REQ-287 REQ-288 a transaction is found by %s', ([, search, ids]) => {
  expect(found({ search })).toEqual(ids);
});

test.for([
  ['the customer’s name', 'Kamau'],
  ['the customer’s phone', '712345678'],
  ['the customer’s national id', '28461937'],
  ['the approver', 'Njoroge'],
  ['the performer’s e-mail', 'agent@'],
  ['mobile money’s transaction id', '019a8123'],
  ['the amount', '25000'],
  ['the status', 'COMPLETED'],
  ['the end of one field with the start of the next', '00001ln'],
  ['the word null', 'null'],
] as const)('REQ-288 nothing is found by %s', ([, search]) => {
  expect(found({ search })).toEqual([]);
});

test.for([
  ['Ng’ang‘a  Otieno', "Ng'ang\u02bca"],
  ['wanjiku\u0303', 'Wanjikũ'],
  ['Amelie', 'Am\u00e9lie'],
] as const)('a search for %s finds the performer %s', ([search, user_first_name]) => {
  const paid = [disbursementRecord({ user_first_name, user_last_name: 'Otieno' })].map(transactionFrom);
  expect(selectTransactions(paid, { ...EVERYTHING, search })).toHaveLength(1);
});

test('REQ-287 a search of spaces matches everything', () => {
  expect(found({ search: '' })).toEqual(['1', '2', '3']);
  expect(found({ search: ' \t ' })).toEqual(['1', '2', '3']);
});

test('REQ-289 a status filter selects only that status', () => {
  expect(found({ status: 'success' })).toEqual(['1']);
  expect(found({ status: 'failed' })).toEqual(['2']);
  expect(found({ status: 'pending' })).toEqual(['3']);
});

test('REQ-289 REQ-290 a type filter selects only that type', () => {
  expect(found({ type: 'disbursement' })).toEqual(['1', '2', '3']);
  expect(found({ type: 'disburse' })).toEqual([]);
  expect(found({ type: 'repayment' })).toEqual([]);
});

test('search, status and type are combined', () => {
  expect(found({ search: 'wanjiru', status: 'failed', type: 'disbursement' })).toEqual(['2']);
  expect(found({ search: 'achieng', status: 'failed' })).toEqual([]);
});

test('each of the three counts as filtering, a search of spaces does not', () => {
  expect(isFiltering(EVERYTHING)).toBe(false);
  expect(isFiltering({ ...EVERYTHING, search: '  ' })).toBe(false);
  expect(isFiltering({ ...EVERYTHING, search: 'x' })).toBe(true);
  expect(isFiltering({ ...EVERYTHING, status: 'failed' })).toBe(true);
  expect(isFiltering({ ...EVERYTHING, type: 'disbursement' })).toBe(true);
});
