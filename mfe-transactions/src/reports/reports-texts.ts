import { catalogue } from 'mfe-kit';

const english = {
  title: 'Reports',
  export: 'Export Report',
  period: 'Period',
  type: 'Report type',
  periods: {
    today: 'Today',
    week: 'This Week',
    month: 'This Month',
    quarter: 'This Quarter',
    year: 'This Year',
  },
  types: { disbursements: 'Disbursements', transactions: 'Transactions', performance: 'Performance' },
  span: (from: string, to: string, beforeFrom: string, beforeTo: string) =>
    `${from} to ${to}, compared with ${beforeFrom} to ${beforeTo}`,
  totalDisbursed: 'Total Disbursed',
  totalTransactions: 'Total Transactions',
  averageDisbursement: 'Average Disbursement',
  successRate: 'Success Rate',
  points: (points: string) => `${points} points`,
  noComparison: 'Nothing to compare with',
  none: 'N/A',
  trends: 'Disbursement Trends',
  unit: 'Scale',
  units: { hour: 'Hourly', day: 'Daily', week: 'Weekly', month: 'Monthly' },
  weekOf: (day: string) => `Week of ${day}`,
  bar: { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' },
  barShown: {
    hour: 'Hour shown above',
    day: 'Day shown above',
    week: 'Week shown above',
    month: 'Month shown above',
  },
  measures: {
    disbursements: 'Amount in KES by outcome',
    transactions: 'Payouts by outcome',
    performance: 'Percent of settled payouts by outcome',
  },
  completed: 'Successful',
  failed: 'Failed',
  pending: 'Pending',
  total: 'Total',
  empty: 'No payouts in this period',
  latest: {
    disbursements: 'Latest disbursements',
    transactions: 'Latest transactions',
    performance: 'Latest failures',
  },
  noLatest: 'Nothing in this period',
  columns: { date: 'Date', transaction: 'Transaction', amount: 'Amount', status: 'Status', agent: 'Agent' },
  disbursement: 'Disbursement',
  unknownAgent: 'Agent',
  failedToLoad: 'Failed to load the report',
};

export type ReportsTexts = typeof english;

export const reportsTexts = catalogue(english, { sw: () => import('./reports-texts-sw') });
