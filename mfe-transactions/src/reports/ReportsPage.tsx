import { formatDate, formatMoney, isLive } from 'mfe-kit';
import { Button, Card, Icon, PageHeader, StatusTag } from 'mfe-kit/ui';
import { type Column, DataTable, Figure, Figures, Person, Select } from 'mfe-kit/ui-data';
import { lazy } from 'react';
import { TONES } from '../transaction/status';
import { transactionsTexts } from '../transactions-texts';
import classes from './ReportsPage.module.css';
import { SAMPLE_ACTIVITY, SAMPLE_FIGURES, type SampleActivity } from './sample-report';

const LiveReports = lazy(() => import('./LiveReports'));

const PERIODS = [
  { value: 'today', label: 'Today' },
  { value: 'week', label: 'This Week' },
  { value: 'month', label: 'This Month' },
  { value: 'quarter', label: 'This Quarter' },
  { value: 'year', label: 'This Year' },
];

const TYPES = [
  { value: 'disbursements', label: 'Disbursements' },
  { value: 'transactions', label: 'Transactions' },
  { value: 'performance', label: 'Performance' },
];

const COLUMNS: Column<SampleActivity>[] = [
  {
    key: 'date',
    title: 'Date',
    cell: ({ date }) => <time dateTime={date}>{formatDate(date)}</time>,
  },
  {
    key: 'transaction',
    title: 'Transaction',
    narrow: 'who',
    cell: ({ customer }) => <Person name={customer} details={['Disbursement']} />,
  },
  {
    key: 'amount',
    title: 'Amount',
    align: 'right',
    narrow: 'amount',
    cell: ({ amount }) => <span className={classes.amount}>{formatMoney(amount)}</span>,
  },
  {
    key: 'status',
    title: 'Status',
    narrow: 'plain',
    cell: ({ status }) => <StatusTag tone={TONES[status]}>{transactionsTexts().statuses[status]}</StatusTag>,
  },
  { key: 'agent', title: 'Agent', cell: ({ agent }) => agent },
];

/** Reports; where the screens are specified, or the provider has none, with sample figures. */
export default function ReportsPage() {
  return isLive() ? <LiveReports specified={<SpecifiedReports />} /> : <SpecifiedReports />;
}

/** The controls do nothing (REQ-309 to REQ-320). */
function SpecifiedReports() {
  return (
    <>
      <PageHeader
        title="Reports"
        subtitle="Sample figures"
        action={
          <Button type="primary" icon={<Icon name="download" size={15} />}>
            Export Report
          </Button>
        }
      />
      <div className={classes.choices}>
        <Select aria-label="Period" virtual={false} options={PERIODS} defaultValue="week" />
        <Select aria-label="Report type" virtual={false} options={TYPES} defaultValue="disbursements" />
      </div>
      <Figures>
        {SAMPLE_FIGURES.map(({ title, value, change, icon }) => (
          <Figure
            key={title}
            icon={icon}
            title={title}
            value={value}
            note={
              <>
                <Icon name={change.startsWith('-') ? 'descending' : 'ascending'} size={14} />
                {change}
              </>
            }
          />
        ))}
      </Figures>
      <div className={classes.cards}>
        <Card
          title="Disbursement Trends"
          action={
            <div className={classes.scales}>
              <Button size="small">Daily</Button>
              <Button size="small">Weekly</Button>
              <Button size="small">Monthly</Button>
            </div>
          }
        >
          <div className={classes.chart}>
            <Icon name="chart" size={28} />
            <p>Chart visualization will be implemented here</p>
          </div>
        </Card>
        <Card title="Recent Activity" flush>
          <DataTable
            label="Recent Activity"
            columns={COLUMNS}
            rows={SAMPLE_ACTIVITY}
            rowKey={({ id }) => id}
            isDense
          />
        </Card>
      </div>
    </>
  );
}
