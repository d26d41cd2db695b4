/** Rows as a table, and on narrow screens as a list. */
import { useState } from 'react';
import { formatMoney } from 'mfe-kit';
import { StatusTag } from 'mfe-kit/ui';
import { type Column, DataTable, Person, type Sort } from 'mfe-kit/ui-data';

interface Repayment {
  id: string;
  customer: string;
  amount: number;
  isLate: boolean;
}

const ROWS: Repayment[] = [
  { id: 'RP-1', customer: 'Wanjiku Kamau', amount: 25_000, isLate: false },
  { id: 'RP-2', customer: 'Achieng Otieno', amount: 4_200, isLate: true },
];

const COLUMNS: Column<Repayment>[] = [
  {
    key: 'customer',
    title: 'Customer',
    narrow: 'who',
    isSortable: true,
    cell: ({ customer, id }) => <Person name={customer} details={[id]} />,
  },
  {
    key: 'amount',
    title: 'Amount',
    narrow: 'amount',
    align: 'right',
    isSortable: true,
    cell: ({ amount }) => formatMoney(amount),
  },
  {
    key: 'status',
    title: 'Status',
    cell: ({ isLate }) => <StatusTag tone={isLate ? 'bad' : 'good'}>{isLate ? 'Late' : 'On time'}</StatusTag>,
  },
];

export function Sorted() {
  const [sort, setSort] = useState<Sort>({ key: 'amount', direction: 'descending' });
  const sortBy = (key: string) =>
    setSort({
      key,
      direction: key === sort.key && sort.direction === 'ascending' ? 'descending' : 'ascending',
    });
  return (
    <DataTable
      label="Repayments"
      columns={COLUMNS}
      rows={ROWS}
      rowKey={({ id }) => id}
      sort={sort}
      onSort={sortBy}
    />
  );
}

export function Dense() {
  return <DataTable label="Dense repayments" columns={COLUMNS} rows={ROWS} rowKey={({ id }) => id} isDense />;
}

export function Busy() {
  return <DataTable label="Busy repayments" columns={COLUMNS} rows={ROWS} rowKey={({ id }) => id} isBusy />;
}
