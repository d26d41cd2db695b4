import { useQuery } from '@tanstack/react-query';
import { formatDate, formatLongDate, formatMoney, isLive, localPhone, useToday } from 'mfe-kit';
import { Card, EmptyState, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type Column, DataTable, Figure, Figures, Person } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { Link } from 'react-router';
import { failures } from '../failures';
import { InProgressTag } from '../loan/InProgressTag';
import { customerName, type Loan } from '../loan/loan';
import { loansTexts, type LoansTexts } from '../loans-texts';
import type { Payout } from '../payout/payout';
import classes from './DashboardPage.module.css';
import { dashboardQuery } from './queries';
import { RecentActivity } from './RecentActivity';
import { statsOf } from './stats';

const SHOWN_LOANS = 5;

const columnsOf = (texts: LoansTexts): Column<Loan>[] => [
  {
    key: 'customer',
    title: texts.customer,
    narrow: 'who',
    cell: (loan) => (
      <Person
        name={customerName(loan)}
        details={[localPhone(loan.customer.phoneNumber)]}
        tag={<InProgressTag loan={loan} />}
      />
    ),
  },
  {
    key: 'amount',
    title: texts.loanAmount,
    align: 'right',
    narrow: 'amount',
    cell: ({ amount }) => formatMoney(amount),
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
  const today = useToday();
  return (
    <>
      <PageHeader
        title={loansTexts().dashboard}
        subtitle={formatLongDate(today)}
        action={isLive() ? <Link to="/reports">{loansTexts().reports}</Link> : null}
      />
      <QueryStates query={query} failure={failures().dashboard}>
        {({ loans, payouts }) => <Stats loans={loans} payouts={payouts} today={today} />}
      </QueryStates>
    </>
  );
}

interface StatsProps {
  loans: Loan[];
  payouts: readonly Payout[];
  today: Date;
}

function Stats({ loans, payouts, today }: StatsProps) {
  const stats = useMemo(() => statsOf(loans, payouts, today), [loans, payouts, today]);
  const texts = loansTexts();
  const columns = useMemo(() => columnsOf(texts), [texts]);
  const noteOf = (unreadable: number) => (unreadable > 0 ? texts.cannotBeRead(unreadable) : null);
  return (
    <>
      <Figures>
        <Figure
          icon="clock"
          title={texts.pendingDisbursements}
          value={String(stats.pendingDisbursements)}
          note={noteOf(stats.unreadableLoans)}
        />
        <Figure
          icon="money"
          title={texts.totalDisbursed}
          value={formatMoney(stats.totalDisbursed)}
          note={noteOf(stats.unreadablePayouts)}
        />
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
