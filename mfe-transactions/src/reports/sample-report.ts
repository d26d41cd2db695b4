import type { PayoutStatus } from 'mfe-kit';
import type { IconName } from 'mfe-kit/ui';

/** One figure of the report, with its change in percent. */
interface SampleFigure {
  title: string;
  value: string;
  change: string;
  icon: IconName;
}

/** One sample payout; the amount is in KES. */
export interface SampleActivity {
  id: string;
  date: string;
  customer: string;
  amount: number;
  status: PayoutStatus;
  agent: string;
}

/** The sample figures, which do not depend on the page's controls (REQ-313 to REQ-320). */
export const SAMPLE_FIGURES: readonly SampleFigure[] = [
  { title: 'Total Disbursed', value: 'KES 2,750,000', change: '+12.5%', icon: 'money' },
  { title: 'Total Transactions', value: '85', change: '+8.2%', icon: 'transfer' },
  { title: 'Average Disbursement', value: 'KES 32,352', change: '-2.3%', icon: 'chart' },
  { title: 'Success Rate', value: '98.5%', change: '+0.5%', icon: 'success' },
];

export const SAMPLE_ACTIVITY: readonly SampleActivity[] = [
  {
    id: 'sample-1',
    date: '2026-11-14T09:30:00.000Z',
    customer: 'Wanjiku Kamau',
    amount: 25_000,
    status: 'success',
    agent: 'Achieng Otieno',
  },
  {
    id: 'sample-2',
    date: '2026-11-14T08:05:00.000Z',
    customer: 'Brian Kiptoo',
    amount: 75_000,
    status: 'success',
    agent: 'Peter Njoroge',
  },
  {
    id: 'sample-3',
    date: '2026-11-13T13:40:00.000Z',
    customer: 'Fatuma Hassan',
    amount: 18_500,
    status: 'pending',
    agent: 'Achieng Otieno',
  },
  {
    id: 'sample-4',
    date: '2026-11-13T10:20:00.000Z',
    customer: 'Kevin Mwangi',
    amount: 42_000,
    status: 'failed',
    agent: 'Wanjiru Maina',
  },
  {
    id: 'sample-5',
    date: '2026-11-12T11:15:00.000Z',
    customer: 'Mercy Chebet',
    amount: 9_800,
    status: 'success',
    agent: 'Peter Njoroge',
  },
];
