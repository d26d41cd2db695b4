import { useQuery } from '@tanstack/react-query';
import { isLive, type PayoutStatus } from 'mfe-kit';
import { Button, Card, EmptyState, Icon, PageHeader, QueryStates } from 'mfe-kit/ui';
import { Filters, ListTools, Pagination, SearchBox, Select } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { Link } from 'react-router';
import { FAILURES } from '../failures';
import { transactionsQuery } from '../transaction/queries';
import { STATUSES } from '../transaction/status';
import type { Transaction } from '../transaction/transaction';
import { factsOf, isFiltering, selectTransactions } from './select-transactions';
import { TransactionTable } from './TransactionTable';
import { useTransactionListState } from './useTransactionListState';

const TITLE = 'Transaction History';

const STATUS_OPTIONS = [
  { value: 'all', label: 'All Statuses' },
  ...Object.entries(STATUSES).map(([value, { label }]) => ({ value, label })),
] as { value: PayoutStatus | 'all'; label: string }[];

/** All payouts, including failed and pending ones, with search, filter and pages. */
export default function TransactionsPage() {
  const query = useQuery(transactionsQuery());
  return (
    <QueryStates query={query} failure={FAILURES.transactions} header={<PageHeader title={TITLE} />}>
      {(transactions) => (
        <History
          transactions={transactions} // Where the list follows by itself, a refetch shows nothing but its result.
          isBusy={query.isFetching && !isLive()}
        />
      )}
    </QueryStates>
  );
}

function History({ transactions, isBusy }: { transactions: readonly Transaction[]; isBusy: boolean }) {
  const { state, change } = useTransactionListState();
  const { search, status, type, filters, pageSize } = state;
  // Turning the page must not search 100,000 records again.
  const selected = useMemo(
    () => selectTransactions(transactions, { search, status, type, filters }),
    [transactions, search, status, type, filters],
  );
  const page = Math.min(state.page, Math.max(1, Math.ceil(selected.length / pageSize)));
  const shown = useMemo(
    () => selected.slice((page - 1) * pageSize, page * pageSize),
    [selected, page, pageSize],
  );

  return (
    <>
      <PageHeader
        title={TITLE}
        subtitle={<span role="status">{`${selected.length} transaction(s) found`}</span>}
        // The menu has no entry for the reports.
        action={isLive() ? <Link to="/reports">Reports</Link> : null}
      />
      <Card flush>
        <ListTools
          search={
            <SearchBox
              label="Search transactions"
              placeholder="Search transactions..."
              value={search}
              onSearch={(text) => change({ search: text })}
            />
          }
          filter={
            <Select
              aria-label="Status"
              virtual={false}
              options={STATUS_OPTIONS}
              value={status}
              onChange={(chosen) => change({ status: chosen })}
            />
          }
        >
          {isLive() ? (
            <Filters
              label="More Filters"
              dates="Disbursed"
              people={{ approver: 'Approved by', disburser: 'Disbursed by' }}
              rows={transactions}
              factsOf={factsOf}
              value={filters}
              onChange={(changes) => change({ filters: { ...filters, ...changes } })}
            />
          ) : (
            <Button icon={<Icon name="filter" size={15} />}>More Filters</Button>
          )}
        </ListTools>
        {selected.length === 0 ? (
          <EmptyState
            title="No transactions found"
            text={
              isFiltering(state)
                ? 'Try adjusting your search or filters'
                : 'Transactions will appear here once loans are disbursed'
            }
          />
        ) : (
          // A new table for each page, because the top rows are rendered first.
          <TransactionTable key={page} transactions={shown} isBusy={isBusy} />
        )}
        <Pagination
          page={page}
          pageSize={pageSize}
          total={selected.length}
          onPage={(chosen) => {
            change({ page: chosen });
            scrollToTop();
          }}
          onPageSize={(chosen) => change({ pageSize: chosen })}
        />
      </Card>
    </>
  );
}

/** Smoothly, unless the user prefers reduced motion (REQ-293). */
function scrollToTop() {
  const isMotionReduced = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  window.scrollTo({ top: 0, behavior: isMotionReduced ? 'auto' : 'smooth' });
}
