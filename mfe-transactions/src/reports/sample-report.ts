import type { IconName } from 'mfe-kit/ui';
import { transactionFrom } from '../transaction/transaction';

/** One figure of the report, with its change in percent. */
interface SampleFigure {
  title: string;
  value: string;
  change: string;
  icon: IconName;
}

/** The sample figures, which do not depend on the page's controls (REQ-313 to REQ-320). */
export const SAMPLE_FIGURES: readonly SampleFigure[] = [
  { title: 'Total Disbursed', value: 'KES 2,750,000', change: '+12.5%', icon: 'money' },
  { title: 'Total Transactions', value: '85', change: '+8.2%', icon: 'transfer' },
  { title: 'Average Disbursement', value: 'KES 32,352', change: '-2.3%', icon: 'chart' },
  { title: 'Success Rate', value: '98.5%', change: '+0.5%', icon: 'success' },
];

/** The time, the customer, the amount in KES, the status and the agent of each sample payout. */
const ACTIVITY = [
  ['2026-11-14T09:30:00.000Z', 'Wanjiku Kamau', 25_000, 'COMPLETED', 'Achieng Otieno'],
  ['2026-11-14T08:05:00.000Z', 'Brian Kiptoo', 75_000, 'COMPLETED', 'Peter Njoroge'],
  ['2026-11-13T13:40:00.000Z', 'Fatuma Hassan', 18_500, 'PENDING', 'Achieng Otieno'],
  ['2026-11-13T10:20:00.000Z', 'Kevin Mwangi', 42_000, 'FAILED', 'Wanjiru Maina'],
  ['2026-11-12T11:15:00.000Z', 'Mercy Chebet', 9_800, 'COMPLETED', 'Peter Njoroge'],
] as const;

export const SAMPLE_ACTIVITY = ACTIVITY.map(([created_at, customer, amount, status, agent]) =>
  transactionFrom({
    id: created_at,
    created_at,
    customer_first_name: customer,
    amount,
    status,
    user_first_name: agent,
  }),
);
