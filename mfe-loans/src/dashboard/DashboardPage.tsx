import { useQuery } from '@tanstack/react-query';
import { formatDate, formatLongDate, formatMoney, localPhone, now } from 'mfe-kit';
import { Card, EmptyState, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type Column, DataTable, Figure, Figures, Person } from 'mfe-kit/ui-data';
import { Link } from 'react-router';
import { FAILURES } from '../failures';
import { Amount } from '../loan/Amount';
import type { Loan } from '../loan/loan';
import classes from './DashboardPage.module.css';
import { dashboardQuery } from './queries';
import { RecentActivity } from './RecentActivity';
import type { DashboardStats } from './stats';

const SHOWN_LOANS = 5;

const COLUMNS: Column<Loan>[] = [
  {
    key: 'customer',
    title: 'Customer',
    narrow: 'who',
    cell: ({ customer }) => <Person name={customer.name} details={[localPhone(customer.phoneNumber)]} />,
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
  { key: 'approvedBy', title: 'Approved By', cell: (loan) => loan.approvedBy || 'N/A' },
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

/** The figures, the first pending loans and the recent activity. */
export default function DashboardPage() {
  const query = useQuery(dashboardQuery());
  return (
    <>
      <PageHeader title="Dashboard" subtitle={formatLongDate(now())} />
      <QueryStates query={query} failure={FAILURES.dashboard}>
        {(stats) => <Stats stats={stats} />}
      </QueryStates>
    </>
  );
}

function Stats({ stats }: { stats: DashboardStats }) {
  return (
    <>
      <Figures>
        <Figure icon="clock" title="Pending Disbursements" value={String(stats.pendingDisbursements)} />
        <Figure icon="money" title="Total Disbursed" value={formatMoney(stats.totalDisbursed)} />
        <Figure icon="ascending" title="Disbursed Today" value={formatMoney(stats.disbursedToday)} />
        <Figure icon="calendar" title="Disbursed This Week" value={formatMoney(stats.disbursedThisWeek)} />
      </Figures>
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
              isDense
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
