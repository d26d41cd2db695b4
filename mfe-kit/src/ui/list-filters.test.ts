import { setPortalSettings } from 'mfe-kit';
import { expect, test } from 'vitest';
import { countFilters, filtersFrom, NO_FILTERS, rowFilter, writeFilters } from './list-filters';

const ROW = {
  date: '2026-11-14T21:30:00.000Z',
  amount: 25_000,
  approver: 'Peter Njoroge',
  disburser: 'Achieng Otieno',
};

const passes = (query: string) => rowFilter(filtersFrom(new URLSearchParams(query)))?.(ROW) ?? 'no filter';

test.for([
  ['', 'no filter'],
  ['from=2026-11-15', true],
  ['from=2026-11-16', false],
  ['to=2026-11-15', true],
  ['to=2026-11-14', false],
  ['from=2026-11-15&to=2026-11-15', true],
  ['min=25000&max=25000', true],
  ['min=25001', false],
  ['max=24999', false],
  ['approver=Peter+Njoroge', true],
  ['approver=Achieng+Otieno', false],
  ['disburser=Achieng+Otieno', true],
  ['disburser=Peter+Njoroge', false],
  ['min=1&from=2026-11-16', false],
] as const)('00:30 of 15 November in Nairobi and KES 25,000: "%s" gives %s', ([query, expected]) => {
  expect(passes(query)).toBe(expected);
});

test('days are those of the deployment’s time zone', () => {
  setPortalSettings({ time_zone: 'UTC' });
  expect(passes('to=2026-11-14')).toBe(true);
});

test('a row without a date passes no date filter', () => {
  const filter = rowFilter({ ...NO_FILTERS, from: '2026-01-01' });
  expect(filter?.({ ...ROW, date: '' })).toBe(false);
});

test('a row whose amount can’t be read is in no range of amounts, and passes other filters', () => {
  const row = { ...ROW, amount: null };
  expect(rowFilter({ ...NO_FILTERS, min: '0' })?.(row)).toBe(false);
  expect(rowFilter({ ...NO_FILTERS, max: '500' })?.(row)).toBe(false);
  expect(rowFilter({ ...NO_FILTERS, approver: ROW.approver })?.(row)).toBe(true);
});

test.for([
  'from=yesterday',
  'from=2026-02-30',
  'from=2026-13-01',
  'to=2026-00-10',
  'from=0020-11-14',
  'min=a-lot',
  'max=-5',
  'max=1.5',
  'max=1234567890',
])('what is no day or amount is left out: %s', (query) => {
  expect(filtersFrom(new URLSearchParams(query))).toEqual(NO_FILTERS);
});

test('the address has what is set and keeps what is not a filter', () => {
  const address = new URLSearchParams('search=a&to=2026-01-01&approver=B');
  const filters = { ...NO_FILTERS, from: '2026-11-01', min: '500', disburser: 'C' };
  writeFilters(address, filters);
  expect(address.toString()).toBe('search=a&from=2026-11-01&min=500&disburser=C');
  expect(filtersFrom(address)).toEqual(filters);
});

test('a range counts once', () => {
  expect(countFilters(NO_FILTERS)).toBe(0);
  expect(
    countFilters({ from: '2026-11-01', to: '2026-11-02', min: '', max: '5', approver: 'A', disburser: 'B' }),
  ).toBe(4);
});
