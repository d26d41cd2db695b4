import { useQuery } from '@tanstack/react-query';
import { formatDate, formatMoney, isLive, language, localPhone, portalSettings } from 'mfe-kit';
import { Button, Card, EmptyState, Icon, LoadingState, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type Column, DataTable, Filters, ListTools, Person, SearchBox, Select } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { Link } from 'react-router';
import { failures } from '../failures';
import { InProgressTag } from '../loan/InProgressTag';
import { customerName, interestOf, isReadable, type Loan, termOf } from '../loan/loan';
import { pendingLoansQuery } from '../loan/queries';
import { loansTexts, type LoansTexts } from '../loans-texts';
import { bandOptions, factsOf, isFiltering, selectLoans } from './select-loans';
import classes from './PendingLoansPage.module.css';
import { useLoanListState } from './useLoanListState';

const columnsOf = (texts: LoansTexts): Column<Loan>[] => [
  {
    key: 'customer.name',
    title: texts.customer,
    isSortable: true,
    narrow: 'who',
    cell: (loan) => (
      <Person
        name={customerName(loan)}
        details={[
          localPhone(loan.customer.phoneNumber),
          texts.idNumber(loan.customer.nationalId || texts.missing),
        ]}
        tag={<InProgressTag loan={loan} />}
      />
    ),
  },
  {
    key: 'amount',
    title: texts.loanAmount,
    isSortable: true,
    align: 'right',
    narrow: 'amount',
    cell: (loan) =>
      isReadable(loan) ? (
        <>
          {formatMoney(loan.amount)}
          <small>{`${termOf(loan)} · ${interestOf(loan)}`}</small>
        </>
      ) : (
        texts.missing
      ),
  },
  {
    key: 'approvedDate',
    title: texts.approvedDate,
    isSortable: true,
    narrow: 'plain',
    cell: (loan) => formatDate(loan.approvedDate),
  },
  { key: 'approvedBy', title: texts.approvedBy, cell: (loan) => loan.approvedBy || texts.missing },
  {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    narrow: 'act',
    cell: (loan) =>
      isReadable(loan) ? (
        <Link to={`/loans/${encodeURIComponent(loan.id)}`} state={{ loan }}>
          {texts.viewDetails}
        </Link>
      ) : null,
  },
];

/** The approved loans that are not yet paid out, with search, filter and sorting. */
export default function PendingLoansPage() {
  const query = useQuery(pendingLoansQuery());
  const texts = loansTexts();
  return (
    <QueryStates
      query={query}
      failure={failures().pendingLoans}
      // The place of the count, so that the list stays where it is.
      header={<PageHeader title={texts.pendingDisbursements} subtitle={'\u00a0'} />}
    >
      {(loans) => (
        <PendingLoans
          // Days and names that are filtered by are those of the language and the time zone; the address has the filters.
          key={`${language.current} ${portalSettings().timeZone}`}
          loans={loans}
          // Where the list follows by itself, a refetch shows nothing but its result.
          isBusy={query.isFetching && !isLive()}
        />
      )}
    </QueryStates>
  );
}

function PendingLoans({ loans: rows, isBusy }: { loans: readonly Loan[]; isBusy: boolean }) {
  const { state, change, filter, sortBy } = useLoanListState();
  const { search, band, sort, filters } = state;
  const texts = loansTexts();
  const columns = useMemo(() => columnsOf(texts), [texts]);
  const loans = useMemo(() => rows.filter(isReadable), [rows]);
  const unreadable = useMemo(() => rows.filter((row) => !isReadable(row)), [rows]);
  // A re-render, such as when the address changes, must not search and sort 10,000 loans again.
  const selected = useMemo(
    () => selectLoans(loans, { search, band, sort, filters }),
    [loans, search, band, sort, filters],
  );
  // Nothing is known of what can't be read, so that no search or filter finds it.
  const hasUnreadable = unreadable.length > 0 && !isFiltering(state);
  const shown = useMemo(
    () => (hasUnreadable ? [...selected, ...unreadable] : selected),
    [selected, unreadable, hasUnreadable],
  );

  return (
    <>
      <PageHeader title={texts.pendingDisbursements} subtitle={texts.countPending(loans.length)} />
      <Card flush>
        <ListTools
          search={
            <SearchBox
              label={texts.searchPendingLoans}
              placeholder={texts.searchPlaceholder}
              value={search}
              onSearch={(text) => change({ search: text })}
            />
          }
          filter={
            <Select
              aria-label={texts.amount}
              virtual={false}
              options={bandOptions(texts)}
              value={band}
              onChange={(chosen) => change({ band: chosen })}
            />
          }
        >
          {isLive() ? (
            <Filters
              label={texts.filter}
              dates={texts.approvedOn}
              people={{ approver: texts.approver }}
              rows={loans}
              factsOf={factsOf}
              value={filters}
              onChange={filter}
            />
          ) : (
            <Button icon={<Icon name="filter" size={15} />}>{texts.filter}</Button>
          )}
        </ListTools>
        {shown.length > 0 ? (
          <DataTable
            label={texts.tableOfPending}
            columns={columns}
            rows={shown}
            rowKey={({ id }) => id}
            onSort={sortBy}
            isBusy={isBusy}
            {...(sort ? { sort } : {})}
          />
        ) : isBusy ? (
          <LoadingState />
        ) : loans.length === 0 ? (
          <EmptyState title={texts.noPendingDisbursements} text={texts.allDisbursed} />
        ) : (
          <EmptyState title={texts.noMatchingLoans} text={texts.adjustSearch} />
        )}
        <div className={classes.under}>
          <span role="status">{texts.shownOf(selected.length, loans.length)}</span>
          {unreadable.length > 0 ? (
            <span className={classes.unreadable}>{texts.cannotBeRead(unreadable.length)}</span>
          ) : null}
          <nav className={classes.pages} aria-label={texts.pages}>
            <Button
              size="small"
              disabled
              icon={<Icon name="previous" size={15} />}
              aria-label={texts.previousPage}
            />
            <Button size="small" className={classes.current} aria-label={texts.firstPage} aria-current="page">
              1
            </Button>
            <Button size="small" disabled icon={<Icon name="next" size={15} />} aria-label={texts.nextPage} />
          </nav>
        </div>
      </Card>
    </>
  );
}
