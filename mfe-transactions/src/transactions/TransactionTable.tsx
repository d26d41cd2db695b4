import { formatDate, formatDateTime, formatMoney, localPhone } from 'mfe-kit';
import { CopyButton } from 'mfe-kit/ui';
import { type Column, DataTable, Person } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { customerName, isReadable, type Transaction } from '../transaction/transaction';
import { TransactionStatus } from '../transaction/TransactionStatus';
import { transactionsTexts, type TransactionsTexts } from '../transactions-texts';
import classes from './TransactionTable.module.css';

const columnsOf = (texts: TransactionsTexts): Column<Transaction>[] => [
  {
    key: 'customer',
    title: texts.customerName,
    narrow: 'who',
    cell: (transaction) => (
      <Person
        name={customerName(transaction)}
        details={[
          localPhone(transaction.customer.phoneNumber),
          transaction.customer.idNumber && texts.idNumber(transaction.customer.idNumber),
        ]}
      />
    ),
  },
  {
    key: 'date',
    title: texts.date,
    cell: ({ date }) => (
      <time className={classes.unbroken} dateTime={date} title={formatDateTime(date)}>
        {formatDate(date)}
      </time>
    ),
  },
  {
    key: 'amount',
    title: texts.amount,
    align: 'right',
    narrow: 'amount',
    cell: ({ amount }) => formatMoney(amount),
  },
  {
    key: 'status',
    title: texts.status,
    narrow: 'plain',
    cell: (one) => (isReadable(one) ? <TransactionStatus of={one} /> : texts.missing),
  },
  {
    key: 'reference',
    title: texts.reference,
    cell: ({ reference }) =>
      reference ? (
        <span className={classes.unbroken}>
          {reference} <CopyButton text={reference} label={texts.copyReference(reference)} />
        </span>
      ) : (
        texts.missing
      ),
  },
  {
    key: 'approvedBy',
    title: texts.approvedBy,
    cell: (one) => one.approver_name || (isReadable(one) ? texts.supervisor : texts.missing),
  },
  {
    key: 'disbursedBy',
    title: texts.disbursedBy,
    cell: (one) => one.performedBy.username || (isReadable(one) ? texts.agent : texts.missing),
  },
];

interface TransactionTableProps {
  transactions: readonly Transaction[];
  isBusy: boolean;
}

export function TransactionTable({ transactions, isBusy }: TransactionTableProps) {
  const texts = transactionsTexts();
  const columns = useMemo(() => columnsOf(texts), [texts]);
  return (
    <DataTable
      label={texts.transactions}
      columns={columns}
      rows={transactions}
      rowKey={({ id }) => id}
      isBusy={isBusy}
      isDense
    />
  );
}
