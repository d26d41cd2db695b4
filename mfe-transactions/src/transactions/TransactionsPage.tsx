import { useQuery } from '@tanstack/react-query';
import { formatDate, formatMoney, localPhone } from 'mfe-kit';
import {
  Avatar,
  Button,
  Card,
  EmptyState,
  FailedState,
  Icon,
  Input,
  LoadingState,
  PageHeader,
  StatusTag,
  type Tone,
} from 'mfe-kit/ui';
import { type Column, DataTable, Pagination, Select } from 'mfe-kit/ui-data';
import { transactionsQuery } from '../transaction/queries';
import type { Transaction, TransactionStatus } from '../transaction/transaction';
import { selectTransactions } from './select-transactions';
import classes from './TransactionsPage.module.css';
import { useTransactionListState } from './useTransactionListState';

const STATUSES: Record<TransactionStatus, { label: string; tone: Tone }> = {
  success: { label: 'Successful', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  pending: { label: 'Pending', tone: 'wait' },
};

const STATUS_OPTIONS = [
  { value: 'all', label: 'All Statuses' },
  ...Object.entries(STATUSES).map(([value, { label }]) => ({ value, label })),
] as { value: TransactionStatus | 'all'; label: string }[];

const COLUMNS: Column<Transaction>[] = [
  {
    key: 'customer',
    title: 'Customer Name',
    narrow: 'who',
    cell: (transaction) => <CustomerCell {...transaction.customer} />,
  },
  { key: 'date', title: 'Disb Date', cell: ({ date }) => formatDate(date) },
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
    cell: ({ status }) => <StatusTag tone={STATUSES[status].tone}>{STATUSES[status].label}</StatusTag>,
  },
  { key: 'reference', title: 'Reference', cell: ({ reference }) => reference || 'N/A' },
  {
    key: 'approvedBy',
    title: 'Approved By',
    cell: (transaction) => transaction.approver_name || 'Supervisor',
  },
  // The label is misspelt in the product, and kept so (REQ-285).
  { key: 'disbursedBy', title: 'Dibursed By', cell: ({ performedBy }) => performedBy.username || 'Agent' },
];

/** What was paid out, and what was tried. */
export default function TransactionsPage() {
  const { data: transactions, error, isPending, isFetching } = useQuery(transactionsQuery());
  const { state, change } = useTransactionListState();

  if (isPending) return <LoadingState />;
  if (error) return <FailedState message={error.message || 'Failed to load transactions'} />;

  const selected = selectTransactions(transactions, state);
  const page = Math.min(state.page, Math.max(1, Math.ceil(selected.length / state.pageSize)));
  const isFiltered = state.search.trim() !== '' || state.status !== 'all';
  return (
    <>
      <PageHeader title="Transaction History" subtitle={`${selected.length} transaction(s) found`} />
      <Card flush>
        <div className={classes.tools}>
          <Input
            className={classes.search ?? ''}
            type="search"
            prefix={<Icon name="search" size={15} />}
            aria-label="Search transactions"
            placeholder="Search transactions..."
            value={state.search}
            onChange={({ target }) => change({ search: target.value })}
          />
          <Select
            className={classes.status ?? ''}
            aria-label="Status"
            virtual={false}
            options={STATUS_OPTIONS}
            value={state.status}
            onChange={(status) => change({ status })}
          />
          <Button icon={<Icon name="filter" size={15} />}>More Filters</Button>
        </div>
        {selected.length === 0 ? (
          <EmptyState
            title="No transactions found"
            text={
              isFiltered
                ? 'Try adjusting your search or filters'
                : 'Transactions will appear here once loans are disbursed'
            }
          />
        ) : (
          <DataTable
            label="Transactions"
            columns={COLUMNS}
            rows={selected.slice((page - 1) * state.pageSize, page * state.pageSize)}
            rowKey={({ id }) => id}
            isBusy={isFetching}
          />
        )}
        <Pagination
          page={page}
          pageSize={state.pageSize}
          total={selected.length}
          onPage={(next) => {
            change({ page: next });
            window.scrollTo({ top: 0, behavior: 'smooth' });
          }}
          onPageSize={(pageSize) => change({ pageSize })}
        />
      </Card>
    </>
  );
}

function CustomerCell({ firstName, lastName, phoneNumber, idNumber }: Transaction['customer']) {
  const name = `${firstName} ${lastName}`.trim();
  return (
    <div className={classes.customer}>
      <Avatar name={name} />
      <div>
        <strong>{name}</strong>
        <small>{localPhone(phoneNumber)}</small>
        <small>{`ID ${idNumber}`}</small>
      </div>
    </div>
  );
}
