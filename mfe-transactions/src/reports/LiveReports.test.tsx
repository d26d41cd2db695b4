import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setPortalSettings } from 'mfe-kit';
import {
  answer,
  disbursementRecord,
  failure,
  hold,
  renderSlice,
  screen,
  unreachable,
  waitFor,
  within,
} from 'mfe-kit/testing';
import { fireEvent } from '@testing-library/react';
import { act } from 'react';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import slice from '../slice';
import { sampleReport } from './sample-live-report';

const REPORTS = '/api/v1/reports';

beforeAll(() => Promise.all([import('./ReportsPage'), import('./LiveReports')]));

beforeEach(() => setPortalSettings({ screens: 'live' }));

async function open(address = '/reports', report = sampleReport()) {
  const received = answer('get', REPORTS, 200, report);
  const drawn = renderSlice(slice, address);
  await screen.findByText('14 Nov 2026 to 15 Nov 2026, compared with 12 Nov 2026 to 13 Nov 2026');
  return { ...drawn, received };
}

const figure = (title: string) => screen.getByText(title).closest('dl');
const table = () => within(screen.getByRole('table', { name: '' }));

test('the figures are the server’s, with their change against the period before', async () => {
  const { received } = await open();
  expect(received.map(({ url }) => url.search)).toEqual(['?period=week&type=disbursements']);
  expect(figure('Total Disbursed')).toHaveTextContent('Total DisbursedKES 51,000+12.5%');
  expect(figure('Total Transactions')).toHaveTextContent('Total Transactions5-8.0%');
  expect(figure('Average Disbursement')).toHaveTextContent('KES 17,000Nothing to compare with');
  expect(figure('Success Rate')).toHaveTextContent('75%+0.5 points');
  expect(screen.queryByText('Sample figures')).toBeNull();
});

test('the chart is read with a slider, and a table beside it has the same', async () => {
  await open();
  const slider = screen.getByRole('slider', { name: 'Day shown above' });
  expect(slider).toHaveAttribute('aria-valuetext', 'Sun, 15 Nov: Successful 1,000, Failed 0, Pending 0');
  fireEvent.change(slider, { target: { value: '0' } });
  expect(slider).toHaveAttribute(
    'aria-valuetext',
    'Sat, 14 Nov: Successful 50,000, Failed 10,000, Pending 5,000',
  );
  expect(
    table()
      .getAllByRole('row')
      .map(({ children }) => Array.from(children, ({ textContent }) => textContent)),
  ).toEqual([
    ['Day', 'Successful', 'Failed', 'Pending'],
    ['Sun, 15 Nov', '1,000', '0', '0'],
    ['Sat, 14 Nov', '50,000', '10,000', '5,000'],
    ['Total', '51,000', '10,000', '5,000'],
  ]);
});

test('a performance report has no outcome that has not settled, and N/A where none has', async () => {
  const none = { payouts: 0, amount: 0 };
  const [settled] = sampleReport().series;
  const pending = { payouts: 2, amount: 3000 };
  await open(
    '/reports?type=performance',
    sampleReport({
      type: 'performance',
      series: [settled!, { from: '2026-11-14T21:00:00.000Z', completed: none, failed: none, pending }],
    }),
  );
  expect(screen.getByRole('slider')).toHaveAttribute(
    'aria-valuetext',
    'Sun, 15 Nov: Successful N/A, Failed N/A',
  );
  expect(screen.getByRole('figure')).not.toHaveTextContent('Pending');
  expect(
    table()
      .getAllByRole('row')
      .map(({ children }) => Array.from(children, ({ textContent }) => textContent)),
  ).toEqual([
    ['Day', 'Successful', 'Failed'],
    ['Sun, 15 Nov', 'N/A', 'N/A'],
    ['Sat, 14 Nov', '66.7%', '33.3%'],
  ]);
});

test('an open report is the new day’s after the deployment’s midnight, and when the tab is shown again', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  vi.setSystemTime('2026-11-15T20:59:59.000Z');
  const { received } = await open('/reports?period=today', sampleReport({ period: 'today' }));
  const next = { period: 'today', from: '2026-11-15T21:00:00.000Z', to: '2026-11-15T21:00:01.000Z' } as const;
  answer('get', REPORTS, 200, sampleReport(next));
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(await screen.findByText(/^16 Nov 2026 to 16 Nov 2026/)).toBeVisible();
  expect(received).toHaveLength(1);

  const shown = answer('get', REPORTS, 200, sampleReport({ ...next, from: '2026-11-17T21:00:00.000Z' }));
  vi.setSystemTime('2026-11-18T09:00:00.000Z');
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  expect(await screen.findByText(/^18 Nov 2026 to /)).toBeVisible();
  expect(shown).toHaveLength(1);
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  expect(shown).toHaveLength(1);
});

test('a bar is never wider than its column, of which a quarter by day has 92 on a phone', () => {
  const css = readFileSync(join(import.meta.dirname, 'OutcomeChart.module.css'), 'utf8');
  const [, bar = ''] = /\n\.bar > span \{([^}]*)\}/.exec(css) ?? [];
  const [, width] = /\bwidth: min\(100%, max\((\d+)px, 70%\)\)/.exec(bar) ?? [];
  expect(Number(width)).toBeGreaterThanOrEqual(4);
  expect(bar).not.toContain('min-width');
});

test('a report that the server makes just before its midnight is read again', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  vi.setSystemTime('2026-11-15T21:00:00.500Z');
  const { received } = await open('/reports', sampleReport({ to: '2026-11-15T20:59:59.900Z' }));
  answer('get', REPORTS, 200, sampleReport({ to: '2026-11-15T21:00:03.500Z' }));
  await act(() => vi.advanceTimersByTimeAsync(3000));
  expect(await screen.findByText(/^14 Nov 2026 to 16 Nov 2026/)).toBeVisible();
  expect(received).toHaveLength(1);
});

test('a choice that is open when the report arrives can still be made', async () => {
  const held = hold();
  answer('get', REPORTS, 200, sampleReport(), { until: held.back });
  const { router, user } = renderSlice(slice, '/reports');
  await user.click(await screen.findByRole('combobox', { name: 'Period' }));
  held.release();
  await screen.findByText('Total Disbursed');
  await user.click(screen.getByRole('option', { name: 'This Year' }));
  await waitFor(() => expect(router.state.location.search).toBe('?period=year'));
});

test('period, type and scale are chosen, and stand in the address', async () => {
  const { router, user, received } = await open();
  await user.click(screen.getByRole('combobox', { name: 'Period' }));
  await user.click(screen.getByRole('option', { name: 'This Quarter' }));
  await waitFor(() => expect(router.state.location.search).toBe('?period=quarter'));
  await user.click(screen.getByRole('button', { name: 'Monthly' }));
  await user.click(screen.getByRole('combobox', { name: 'Report type' }));
  await user.click(screen.getByRole('option', { name: 'Performance' }));
  await waitFor(() =>
    expect(received.at(-1)?.url.search).toBe('?period=quarter&type=performance&unit=month'),
  );
  expect(router.state.location.search).toBe('?period=quarter&type=performance&unit=month');
});

test('the scale that is shown is marked', async () => {
  await open('/reports?unit=day');
  expect(screen.getByRole('button', { name: 'Daily', pressed: true })).toBeVisible();
  expect(screen.getByRole('button', { name: 'Weekly', pressed: false })).toBeVisible();
});

test('the reason for a failure says first what to do', async () => {
  const error_message = 'The operator does not exist.';
  await open('/reports', sampleReport({ latest: [disbursementRecord({ status: 'FAILED', error_message })] }));
  expect(screen.getByRole('button', { name: 'Failed' })).toHaveAccessibleDescription(
    `The number has no mobile-money account. Check it with the customer. ${error_message}`,
  );
});

test('Export Report saves a CSV', async () => {
  const { user } = await open();
  const made: Blob[] = [];
  Object.assign(URL, {
    createObjectURL: (blob: Blob) => `blob:${made.push(blob)}`,
    revokeObjectURL: () => {},
  });
  let saved = '';
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved = this.download;
  });
  await user.click(screen.getByRole('button', { name: 'Export Report' }));
  expect(saved).toBe('report-disbursements-week-2026-11-15.csv');
  expect(made[0]?.type).toBe('text/csv;charset=utf-8');
});

test('a period without payouts says so', async () => {
  const none = { payouts: 0, amount: 0 };
  await open(
    '/reports',
    sampleReport({
      series: [{ from: '2026-11-13T21:00:00.000Z', completed: none, failed: none, pending: none }],
      latest: [],
      figures: { total_disbursed: 0, total_transactions: 0, average_disbursement: 0, success_rate: null },
    }),
  );
  expect(screen.getByText('No payouts in this period')).toBeVisible();
  expect(screen.getByText('Nothing in this period')).toBeVisible();
  expect(figure('Success Rate')).toHaveTextContent('N/A');
});

test('while the report is loading there is a spinner, and the choices stay', async () => {
  const held = hold();
  answer('get', REPORTS, 200, sampleReport(), { until: held.back });
  renderSlice(slice, '/reports?period=today');
  expect(await screen.findByRole('status', { name: 'Loading' })).toBeInTheDocument();
  expect(screen.getByText('Today')).toBeVisible();
  held.release();
  await screen.findByText('Disbursement Trends');
});

test('a report that can’t be loaded says so', async () => {
  unreachable('get', REPORTS);
  renderSlice(slice, '/reports');
  expect(await screen.findByRole('alert')).toHaveTextContent('Failed to load the report');
});

test('a provider without reports has the sample figures', async () => {
  answer('get', REPORTS, 404, failure('Not found', 'not_found') as never);
  renderSlice(slice, '/reports');
  expect(await screen.findByText('Sample figures')).toBeVisible();
});
