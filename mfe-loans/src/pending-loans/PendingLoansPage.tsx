import { useQuery } from '@tanstack/react-query';
import { failureText, formatDate } from 'mfe-kit';
import { Button, Card, EmptyState, FailedState, Icon, Input, LoadingState, PageHeader } from 'mfe-kit/ui';
import { type Column, DataTable, Select } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { Link } from 'react-router';
import { Amount } from '../loan/Amount';
import { Customer } from '../loan/Customer';
import { type Loan, termOf } from '../loan/loan';
import { pendingLoansQuery } from '../loan/queries';
import { BANDS, selectLoans } from './select-loans';
import classes from './PendingLoansPage.module.css';
import { useLoanListState } from './useLoanListState';

const COLUMNS: Column<Loan>[] = [
  {
    key: 'customer.name',
    title: 'Customer',
    isSortable: true,
    narrow: 'who',
    cell: ({ customer }) => <Customer customer={customer} isIdShown />,
  },
  {
    key: 'amount',
    title: 'Loan Amount',
    isSortable: true,
    align: 'right',
    narrow: 'amount',
    cell: (loan) => <Amount kes={loan.amount} detail={`${termOf(loan)} · ${loan.interestRate}%`} />,
  },
  {
    key: 'approvedDate',
    title: 'Approved Date',
    isSortable: true,
    narrow: 'plain',
    cell: (loan) => formatDate(loan.approvedDate),
  },
  { key: 'approvedBy', title: 'Approved By', cell: (loan) => loan.approvedBy ?? 'N/A' },
  {
    key: 'actions',
    title: 'Actions',
    align: 'right',
    narrow: 'act',
    cell: (loan) => (
      <Link to={`/loans/${encodeURIComponent(loan.id)}`} state={{ loan }}>
        View Details
      </Link>
    ),
  },
];

/** The approved loans that wait to be paid out: searched, filtered and ordered. */
export default function PendingLoansPage() {
  const { data: loans, error, isPending, isFetching } = useQuery(pendingLoansQuery());
  const { state, change, sortBy } = useLoanListState();
  const { search, band, sort } = state;
  const selected = useMemo(
    () => selectLoans(loans ?? [], { search, band, sort }),
    // The address is read anew each time; the sort is the same one as long as it reads the same.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [loans, search, band, sort?.key, sort?.direction],
  );

  if (isPending) return <LoadingState />;
  if (error) return <FailedState message={failureText('pendingLoans', error)} />;

  return (
    <>
      <PageHeader title="Pending Disbursements" subtitle={`${loans.length} loan(s) pending disbursement`} />
      <Card flush>
        <div className={classes.tools}>
          <Input
            className={classes.search ?? ''}
            type="search"
            prefix={<Icon name="search" size={15} />}
            aria-label="Search pending loans"
            placeholder="Search by name, ID, phone..."
            value={state.search}
            onChange={({ target }) => change({ search: target.value })}
          />
          <Select
            className={classes.band ?? ''}
            aria-label="Amount"
            virtual={false}
            options={BANDS}
            value={state.band}
            onChange={(band) => change({ band })}
          />
          <Button icon={<Icon name="filter" size={15} />}>Filter</Button>
        </div>
        {selected.length === 0 ? (
          <NoLoans isListEmpty={loans.length === 0} />
        ) : (
          <DataTable
            label="Pending disbursements"
            columns={COLUMNS}
            rows={selected}
            rowKey={({ id }) => id}
            onSort={sortBy}
            isBusy={isFetching}
            {...(state.sort ? { sort: state.sort } : {})}
          />
        )}
        <div className={classes.under}>
          {`Showing ${selected.length} of ${loans.length} results`}
          <nav className={classes.pages} aria-label="Pages">
            <Button disabled icon={<Icon name="previous" size={15} />} aria-label="Previous page" />
            <Button aria-label="Page 1" aria-current="page">
              1
            </Button>
            <Button disabled icon={<Icon name="next" size={15} />} aria-label="Next page" />
          </nav>
        </div>
      </Card>
    </>
  );
}

function NoLoans({ isListEmpty }: { isListEmpty: boolean }) {
  return isListEmpty ? (
    <EmptyState title="No pending disbursements" text="All approved loans have been disbursed" />
  ) : (
    <EmptyState title="No matching loans found" text="Try adjusting your search or filters" />
  );
}
