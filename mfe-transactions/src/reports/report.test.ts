import { expect, test } from 'vitest';
import { csvOf } from '../csv/csv';
import { addressOf, choiceFrom, measure, nameOf, rowsOf, stepsTo } from './report';
import { sampleReport } from './sample-live-report';

const chosen = (query: string) => choiceFrom(new URLSearchParams(query));

test('period, type and scale are in the address, without the defaults', () => {
  expect(chosen('')).toEqual({ period: 'week', type: 'disbursements', unit: null });
  expect(chosen('period=decade&type=x&unit=hour')).toEqual(chosen(''));
  const choice = chosen('period=year&type=performance&unit=week');
  expect(choice).toEqual({ period: 'year', type: 'performance', unit: 'week' });
  expect(addressOf(choice).toString()).toBe('period=year&type=performance&unit=week');
  expect(addressOf(chosen('')).toString()).toBe('');
});

test('a bar shows amounts, payouts, or percent of what has settled', () => {
  const [point] = sampleReport().series;
  expect(measure(point!, 'disbursements')).toEqual({ completed: 50_000, failed: 10_000, pending: 5_000 });
  expect(measure(point!, 'transactions')).toEqual({ completed: 2, failed: 1, pending: 1 });
  expect(measure(point!, 'performance')).toEqual({ completed: 66.7, failed: 33.3, pending: null });
  const none = { payouts: 0, amount: 0 };
  const empty = { from: point!.from, completed: none, failed: none, pending: none };
  expect(measure(empty, 'performance')).toEqual({ completed: null, failed: null, pending: null });
});

test.for([
  ['hour', 'UTC', '21:00', '21:00'],
  ['day', 'Africa/Nairobi', '14 Nov', 'Sat, 14 Nov'],
  ['week', 'Africa/Nairobi', '14 Nov', 'Week of 14 Nov'],
  ['month', 'Africa/Nairobi', 'Nov', 'November 2026'],
] as const)('a bar of an %s in %s is called %s and %s', ([unit, time_zone, short, long]) => {
  const report = sampleReport({ unit, time_zone });
  expect(nameOf(report.series[0]!, report)).toEqual({ short, long });
});

test.for([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [9, [0, 5, 10]],
  [10, [0, 5, 10]],
  [100, [0, 25, 50, 75, 100]],
  [2_750_000, [0, 1_000_000, 2_000_000, 3_000_000]],
] as const)('up to %d the axis has the steps %o', ([highest, steps]) => {
  expect(stepsTo(highest)).toEqual(steps);
});

test('the CSV has a row for each bar, in the report’s time zone and with the currency', () => {
  expect(csvOf(rowsOf(sampleReport()))).toBe(
    'from (Africa/Nairobi),completed_payouts,completed_amount_kes,failed_payouts,failed_amount_kes,pending_payouts,pending_amount_kes\r\n' +
      '2026-11-14 00:00,2,50000,1,10000,1,5000\r\n' +
      '2026-11-15 00:00,1,1000,0,0,0,0\r\n',
  );
});
