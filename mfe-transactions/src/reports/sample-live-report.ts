import { disbursementRecord } from 'mfe-kit/testing';
import type { Report } from './report';

/** A report of two days, for tests. */
export function sampleReport(given: Partial<Report> = {}): Report {
  const figures = {
    total_disbursed: 51_000,
    total_transactions: 5,
    average_disbursement: 17_000,
    success_rate: 75,
  };
  return {
    period: 'week',
    type: 'disbursements',
    time_zone: 'Africa/Nairobi',
    from: '2026-11-13T21:00:00.000Z',
    to: '2026-11-15T09:00:00.000Z',
    before_from: '2026-11-11T21:00:00.000Z',
    before_to: '2026-11-13T09:00:00.000Z',
    unit: 'day',
    figures,
    figures_before: figures,
    change: {
      total_disbursed: 12.5,
      total_transactions: -8,
      average_disbursement: null,
      success_rate: 0.5,
    },
    series: [
      {
        from: '2026-11-13T21:00:00.000Z',
        completed: { payouts: 2, amount: 50_000 },
        failed: { payouts: 1, amount: 10_000 },
        pending: { payouts: 1, amount: 5_000 },
      },
      {
        from: '2026-11-14T21:00:00.000Z',
        completed: { payouts: 1, amount: 1_000 },
        failed: { payouts: 0, amount: 0 },
        pending: { payouts: 0, amount: 0 },
      },
    ],
    latest: [disbursementRecord()],
    ...given,
  };
}
