import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dataOf, language, orNull, queryKeys, type Schema } from 'mfe-kit';
import { csvTime, saveCsv } from '../csv/csv';
import { reportsTexts } from './reports-texts';

export type Report = Schema<'Report'>;
export type Period = Report['period'];
export type ReportType = Report['type'];
export type Unit = Report['unit'];
type Point = Report['series'][number];

export const OUTCOMES = ['completed', 'failed', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const PERIODS = ['today', 'week', 'month', 'quarter', 'year'] as const satisfies Period[];
export const TYPES = ['disbursements', 'transactions', 'performance'] as const satisfies ReportType[];
export const UNITS = ['day', 'week', 'month'] as const satisfies Unit[];

/** Milliseconds after which a report that does not reach into the day yet is read again, and how often. */
const READ_AGAIN_MS = 3000;
const MOST_READS = 3;

/** The person's choice; without a unit, the server takes one that suits the period. */
export interface ReportChoice {
  period: Period;
  type: ReportType;
  unit: (typeof UNITS)[number] | null;
}

/** The choice in an address; what is not one is the default. */
export function choiceFrom(address: URLSearchParams): ReportChoice {
  return {
    period: PERIODS.find((period) => period === address.get('period')) ?? 'week',
    type: TYPES.find((type) => type === address.get('type')) ?? 'disbursements',
    unit: UNITS.find((unit) => unit === address.get('unit')) ?? null,
  };
}

/** The address of a choice, without its defaults. */
export function addressOf({ period, type, unit }: ReportChoice): URLSearchParams {
  return new URLSearchParams({
    ...(period === 'week' ? {} : { period }),
    ...(type === 'disbursements' ? {} : { type }),
    ...(unit ? { unit } : {}),
  });
}

/** The report of a period that `today` is part of, so that it is read again on another day; `null` with a provider that has none. */
export function reportQuery({ period, type, unit }: ReportChoice, today: Date) {
  return queryOptions({
    queryKey: [...queryKeys.reports, period, type, unit, today.toISOString()],
    queryFn: ({ signal }) =>
      orNull(
        dataOf(
          api.GET('/api/v1/reports', {
            params: { query: { period, type, ...(unit ? { unit } : {}) } },
            signal,
          }),
        ),
      ),
    placeholderData: keepPreviousData,
    // This machine's midnight may be a moment before the server's.
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data && Date.parse(data.to) < today.getTime() && dataUpdateCount < MOST_READS ? READ_AGAIN_MS : false,
  });
}

/** The values of a point's bar in the chart, by outcome: amounts, payouts, or percent of settled payouts; `null` without any. */
export function measure(point: Point, type: ReportType): Record<Outcome, number | null> {
  const { completed, failed, pending } = point;
  if (type === 'disbursements')
    return { completed: completed.amount, failed: failed.amount, pending: pending.amount };
  if (type === 'transactions')
    return { completed: completed.payouts, failed: failed.payouts, pending: pending.payouts };
  const settled = completed.payouts + failed.payouts;
  const percent = (payouts: number) => (settled === 0 ? null : Math.round((1000 * payouts) / settled) / 10);
  return { completed: percent(completed.payouts), failed: percent(failed.payouts), pending: null };
}

/** The start of a bar, short for the axis and long for its name, in the report's time zone. */
export function nameOf({ from }: Point, { unit, time_zone }: Report): { short: string; long: string } {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language.locale, { ...options, timeZone: time_zone }).format(new Date(from));
  switch (unit) {
    case 'hour': {
      const hour = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
      return { short: hour, long: hour };
    }
    case 'day':
      return {
        short: format({ day: 'numeric', month: 'short' }),
        long: format({ weekday: 'short', day: 'numeric', month: 'short' }),
      };
    case 'week': {
      const day = format({ day: 'numeric', month: 'short' });
      return { short: day, long: reportsTexts().weekOf(day) };
    }
    case 'month':
      return { short: format({ month: 'short' }), long: format({ month: 'long', year: 'numeric' }) };
  }
}

export function formatPercent(value: number): string {
  return `${new Intl.NumberFormat(language.locale, { maximumFractionDigits: 1 }).format(value)}%`;
}

/** Round steps from 0 to at least the highest value, three to five of them. */
export function stepsTo(highest: number): number[] {
  if (highest <= 0) return [0, 1];
  const rough = highest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power);
  // Payouts are whole.
  const step = steps.find((candidate) => candidate >= rough && Number.isInteger(candidate)) ?? 10 * power;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step);
}

/** The report as rows of CSV: one for each bar, with payouts and amounts by outcome, and times in the report's zone. */
export function rowsOf({ series, time_zone }: Report): (string | number)[][] {
  return [
    [
      `from (${time_zone})`,
      ...OUTCOMES.flatMap((outcome) => [`${outcome}_payouts`, `${outcome}_amount_kes`]),
    ],
    ...series.map((point) => [
      csvTime(point.from, time_zone),
      ...OUTCOMES.flatMap((outcome) => [point[outcome].payouts, point[outcome].amount]),
    ]),
  ];
}

export function exportCsv(report: Report): void {
  const day = csvTime(report.to, report.time_zone).slice(0, 10);
  saveCsv(`report-${report.type}-${report.period}-${day}.csv`, rowsOf(report));
}
