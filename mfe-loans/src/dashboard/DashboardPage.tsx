import { useQuery } from '@tanstack/react-query';
import { formatDate, formatLongDate, formatMoney, localPhone, now } from 'mfe-kit';
import { Card, EmptyState, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type Column, DataTable, Figure, Figures, Person } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { Link } from 'react-router';
import { failures } from '../failures';
import { Amount } from '../loan/Amount';
import type { Loan } from '../loan/loan';
import { loansTexts, type LoansTexts } from '../loans-texts';
import classes from './DashboardPage.module.css';
import { dashboardQuery } from './queries';
import { RecentActivity } from './RecentActivity';
import type { DashboardStats } from './stats';

const SHOWN_LOANS = 5;

const columnsOf = (texts: LoansTexts): Column<Loan>[] => [
  {
    key: 'customer',
    title: texts.customer,
    narrow: 'who',
    cell: ({ customer }) => <Person name={customer.name} details={[localPhone(customer.phoneNumber)]} />,
  },
  {
    key: 'amount',
    title: texts.loanAmount,
    align: 'right',
    narrow: 'amount',
    cell: ({ amount }) => <Amount kes={amount} />,
  },
  {
    key: 'approvedDate',
    title: texts.approvedDate,
    narrow: 'plain',
    cell: (loan) => formatDate(loan.approvedDate),
  },
  { key: 'approvedBy', title: texts.approvedBy, cell: (loan) => loan.approvedBy || texts.missing },
  {
    key: 'action',
    title: texts.action,
    narrow: 'act',
    cell: (loan) => (
      <Link to={`/loans/${encodeURIComponent(loan.id)}`} state={{ loan }}>
        {texts.view}
      </Link>
    ),
  },
];

/** The figures, the first pending loans and the recent activity. */
export default function DashboardPage() {
  const query = useQuery(dashboardQuery());
  return (
    <>
      <PageHeader title={loansTexts().dashboard} subtitle={formatLongDate(now())} />
      <QueryStates query={query} failure={failures().dashboard}>
        {(stats) => <Stats stats={stats} />}
      </QueryStates>
    </>
  );
}

function Stats({ stats }: { stats: DashboardStats }) {
  const texts = loansTexts();
  const columns = useMemo(() => columnsOf(texts), [texts]);
  return (
    <>
      <Figures>
        <Figure icon="clock" title={texts.pendingDisbursements} value={String(stats.pendingDisbursements)} />
        <Figure icon="money" title={texts.totalDisbursed} value={formatMoney(stats.totalDisbursed)} />
        <Figure icon="ascending" title={texts.disbursedToday} value={formatMoney(stats.disbursedToday)} />
        <Figure
          icon="calendar"
          title={texts.disbursedThisWeek}
          value={formatMoney(stats.disbursedThisWeek)}
        />
      </Figures>
      <div className={classes.columns}>
        <Card
          title={texts.pendingDisbursements}
          flush
          action={<Link to="/pending-loans">{texts.viewAll}</Link>}
        >
          {stats.pendingLoans.length === 0 ? (
            <EmptyState title={texts.noPendingDisbursements} />
          ) : (
            <DataTable
              label={texts.pendingDisbursements}
              columns={columns}
              rows={stats.pendingLoans.slice(0, SHOWN_LOANS)}
              rowKey={({ id }) => id}
              isDense
            />
          )}
        </Card>
        <Card title={texts.recentActivity} flush action={<Link to="/transactions">{texts.viewAll}</Link>}>
          <RecentActivity activities={stats.recentActivities} />
        </Card>
      </div>
    </>
  );
}
