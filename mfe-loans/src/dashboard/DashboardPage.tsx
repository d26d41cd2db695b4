import { useQuery } from '@tanstack/react-query';
import { failureText, formatDate, formatLongDate, formatMoney } from 'mfe-kit';
import { Card, EmptyState, FailedState, Icon, type IconName, LoadingState, PageHeader } from 'mfe-kit/ui';
import { type Column, DataTable } from 'mfe-kit/ui-data';
import { Link } from 'react-router';
import { Amount } from '../loan/Amount';
import { Customer } from '../loan/Customer';
import type { Loan } from '../loan/loan';
import classes from './DashboardPage.module.css';
import { dashboardQuery } from './queries';
import { RecentActivity } from './RecentActivity';

const SHOWN_LOANS = 5;

const COLUMNS: Column<Loan>[] = [
  {
    key: 'customer',
    title: 'Customer',
    narrow: 'who',
    cell: ({ customer }) => <Customer customer={customer} />,
  },
  {
    key: 'amount',
    title: 'Loan Amount',
    align: 'right',
    narrow: 'amount',
    cell: ({ amount }) => <Amount kes={amount} />,
  },
  {
    key: 'approvedDate',
    title: 'Approved Date',
    narrow: 'plain',
    cell: (loan) => formatDate(loan.approvedDate),
  },
  { key: 'approvedBy', title: 'Approved By', cell: (loan) => loan.approvedBy ?? 'N/A' },
  {
    key: 'action',
    title: 'Action',
    narrow: 'act',
    cell: (loan) => (
      <Link to={`/loans/${encodeURIComponent(loan.id)}`} state={{ loan }}>
        View
      </Link>
    ),
  },
];

/** What waits, what was paid out, and what happened last. */
export default function DashboardPage() {
  const { data: stats, error, isPending } = useQuery(dashboardQuery());

  if (isPending) return <LoadingState />;
  if (error) return <FailedState message={failureText('dashboard', error)} />;

  return (
    <>
      <PageHeader title="Dashboard" subtitle={formatLongDate(new Date())} />
      <div className={classes.figures}>
        <Figure icon="clock" title="Pending Disbursements" value={String(stats.pendingDisbursements)} />
        <Figure icon="money" title="Total Disbursed" value={formatMoney(stats.totalDisbursed)} />
        <Figure icon="ascending" title="Disbursed Today" value={formatMoney(stats.disbursedToday)} />
        <Figure icon="calendar" title="Disbursed This Week" value={formatMoney(stats.disbursedThisWeek)} />
      </div>
      <div className={classes.columns}>
        <Card title="Pending Disbursements" flush action={<Link to="/pending-loans">View all</Link>}>
          {stats.pendingLoans.length === 0 ? (
            <EmptyState title="No pending disbursements" />
          ) : (
            <DataTable
              label="Pending Disbursements"
              columns={COLUMNS}
              rows={stats.pendingLoans.slice(0, SHOWN_LOANS)}
              rowKey={({ id }) => id}
            />
          )}
        </Card>
        <Card title="Recent Activity" flush action={<Link to="/transactions">View all</Link>}>
          <RecentActivity activities={stats.recentActivities} />
        </Card>
      </div>
    </>
  );
}

function Figure({ icon, title, value }: { icon: IconName; title: string; value: string }) {
  return (
    <Card>
      <dl className={classes.figure}>
        <dt>
          <Icon name={icon} />
          {title}
        </dt>
        <dd>{value}</dd>
      </dl>
    </Card>
  );
}
