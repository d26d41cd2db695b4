import { formatDate, formatDateTime, formatMoney, localPhone } from 'mfe-kit';
import { CopyButton, StatusTag } from 'mfe-kit/ui';
import { type Column, DataTable, Person } from 'mfe-kit/ui-data';
import { STATUSES } from '../transaction/status';
import type { Transaction } from '../transaction/transaction';
import classes from './TransactionTable.module.css';

const COLUMNS: Column<Transaction>[] = [
  {
    key: 'customer',
    title: 'Customer Name',
    narrow: 'who',
    cell: ({ customer }) => (
      <Person
        name={`${customer.firstName} ${customer.lastName}`.trim()}
        details={[localPhone(customer.phoneNumber), customer.idNumber && `ID ${customer.idNumber}`].filter(
          Boolean,
        )}
      />
    ),
  },
  {
    key: 'date',
    title: 'Disb Date',
    cell: ({ date }) => (
      <time className={classes.unbroken} dateTime={date} title={formatDateTime(date)}>
        {formatDate(date)}
      </time>
    ),
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
    cell: ({ status, errorMessage }) => (
      <StatusTag tone={STATUSES[status].tone} reason={status === 'failed' ? errorMessage : null}>
        {STATUSES[status].label}
      </StatusTag>
    ),
  },
  {
    key: 'reference',
    title: 'Reference',
    cell: ({ reference }) =>
      reference ? (
        <span className={classes.unbroken}>
          {reference} <CopyButton text={reference} label={`Copy reference ${reference}`} />
        </span>
      ) : (
        'N/A'
      ),
  },
  {
    key: 'approvedBy',
    title: 'Approved By',
    cell: (transaction) => transaction.approver_name || 'Supervisor',
  },
  // The product misspells this label, and it is kept (REQ-285).
  { key: 'disbursedBy', title: 'Dibursed By', cell: ({ performedBy }) => performedBy.username || 'Agent' },
];

interface TransactionTableProps {
  transactions: readonly Transaction[];
  /** Whether they are being fetched again. */
  isBusy: boolean;
}

/** One page of transactions. */
export function TransactionTable({ transactions, isBusy }: TransactionTableProps) {
  return (
    <DataTable
      label="Transactions"
      columns={COLUMNS}
      rows={transactions}
      rowKey={({ id }) => id}
      isBusy={isBusy}
      isDense
    />
  );
}
