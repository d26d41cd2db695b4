import { useQuery } from '@tanstack/react-query';
import { formatDate, isLive, localPhone } from 'mfe-kit';
import { Button, Card, EmptyState, Icon, LoadingState, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type Column, DataTable, Filters, ListTools, Person, SearchBox, Select } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { Link } from 'react-router';
import { FAILURES } from '../failures';
import { Amount } from '../loan/Amount';
import { type Loan, termOf } from '../loan/loan';
import { pendingLoansQuery } from '../loan/queries';
import { BANDS, factsOf, selectLoans } from './select-loans';
import classes from './PendingLoansPage.module.css';
import { useLoanListState } from './useLoanListState';

const TITLE = 'Pending Disbursements';

const COLUMNS: Column<Loan>[] = [
  {
    key: 'customer.name',
    title: 'Customer',
    isSortable: true,
    narrow: 'who',
    cell: ({ customer }) => (
      <Person
        name={customer.name}
        details={[localPhone(customer.phoneNumber), `ID ${customer.nationalId || 'N/A'}`]}
      />
    ),
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
  { key: 'approvedBy', title: 'Approved By', cell: (loan) => loan.approvedBy || 'N/A' },
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

/** The approved loans that are not yet paid out, with search, filter and sorting. */
export default function PendingLoansPage() {
  const query = useQuery(pendingLoansQuery());
  return (
    <QueryStates query={query} failure={FAILURES.pendingLoans} header={<PageHeader title={TITLE} />}>
      {(loans) => (
        // Where the list follows by itself, a refetch shows nothing but its result.
        <PendingLoans loans={loans} isBusy={query.isFetching && !isLive()} />
      )}
    </QueryStates>
  );
}

function PendingLoans({ loans, isBusy }: { loans: readonly Loan[]; isBusy: boolean }) {
  const { state, change, sortBy } = useLoanListState();
  const { search, band, sort, filters } = state;
  // A re-render, such as when the address changes, must not search and sort 10,000 loans again.
  const selected = useMemo(
    () => selectLoans(loans, { search, band, sort, filters }),
    [loans, search, band, sort, filters],
  );

  return (
    <>
      <PageHeader title={TITLE} subtitle={`${loans.length} loan(s) pending disbursement`} />
      <Card flush>
        <ListTools
          search={
            <SearchBox
              label="Search pending loans"
              placeholder="Search by name, ID, phone..."
              value={search}
              onSearch={(text) => change({ search: text })}
            />
          }
          filter={
            <Select
              aria-label="Amount"
              virtual={false}
              options={BANDS}
              value={band}
              onChange={(chosen) => change({ band: chosen })}
            />
          }
        >
          {isLive() ? (
            <Filters
              label="Filter"
              dates="Approved"
              people={{ approver: 'Approved by' }}
              rows={loans}
              factsOf={factsOf}
              value={filters}
              onChange={(changes) => change({ filters: { ...filters, ...changes } })}
            />
          ) : (
            <Button icon={<Icon name="filter" size={15} />}>Filter</Button>
          )}
        </ListTools>
        {selected.length > 0 ? (
          <DataTable
            label="Pending disbursements"
            columns={COLUMNS}
            rows={selected}
            rowKey={({ id }) => id}
            onSort={sortBy}
            isBusy={isBusy}
            {...(sort ? { sort } : {})}
          />
        ) : isBusy ? (
          <LoadingState />
        ) : (
          <NoLoans isListEmpty={loans.length === 0} />
        )}
        <div className={classes.under}>
          <span role="status">{`Showing ${selected.length} of ${loans.length} results`}</span>
          <nav className={classes.pages} aria-label="Pages">
            <Button
              size="small"
              disabled
              icon={<Icon name="previous" size={15} />}
              aria-label="Previous page"
            />
            <Button size="small" className={classes.current ?? ''} aria-label="Page 1" aria-current="page">
              1
            </Button>
            <Button size="small" disabled icon={<Icon name="next" size={15} />} aria-label="Next page" />
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
