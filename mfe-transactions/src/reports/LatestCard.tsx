import { formatDate, formatDateTime, formatMoney } from 'mfe-kit';
import { Card, EmptyState } from 'mfe-kit/ui';
import { type Column, DataTable, Person } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { customerName, type Transaction, transactionFrom } from '../transaction/transaction';
import { TransactionStatus } from '../transaction/TransactionStatus';
import type { Report } from './report';
import { reportsTexts } from './reports-texts';

/** The latest payouts of the period. */
export function LatestCard({ report }: { report: Report }) {
  const texts = reportsTexts();
  const title = texts.latest[report.type];
  const latest = useMemo(() => report.latest.map(transactionFrom), [report.latest]);
  return (
    <Card title={title} flush>
      {latest.length === 0 ? (
        <EmptyState title={texts.noLatest} />
      ) : (
        <PayoutTable label={title} payouts={latest} />
      )}
    </Card>
  );
}

/** Payouts, with the agent of each. */
export function PayoutTable({ label, payouts }: { label: string; payouts: readonly Transaction[] }) {
  return <DataTable label={label} columns={columns()} rows={payouts} rowKey={({ id }) => id} isDense />;
}

function columns(): Column<Transaction>[] {
  const texts = reportsTexts();
  return [
    {
      key: 'date',
      title: texts.columns.date,
      cell: ({ date }) => (
        <time dateTime={date} title={formatDateTime(date)}>
          {formatDate(date)}
        </time>
      ),
    },
    {
      key: 'transaction',
      title: texts.columns.transaction,
      narrow: 'who',
      cell: (payout) => <Person name={customerName(payout)} details={[texts.disbursement]} />,
    },
    {
      key: 'amount',
      title: texts.columns.amount,
      align: 'right',
      narrow: 'amount',
      cell: ({ amount }) => formatMoney(amount),
    },
    {
      key: 'status',
      title: texts.columns.status,
      narrow: 'plain',
      cell: (payout) => <TransactionStatus of={payout} />,
    },
    {
      key: 'agent',
      title: texts.columns.agent,
      cell: ({ performedBy }) => performedBy.username || texts.unknownAgent,
    },
  ];
}
