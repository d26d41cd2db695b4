import { useQuery } from '@tanstack/react-query';
import { isLive, language, type PayoutStatus, portalSettings } from 'mfe-kit';
import { Button, Card, EmptyState, Icon, PageHeader, QueryStates } from 'mfe-kit/ui';
import { Filters, ListTools, Pagination, SearchBox, Select } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { failures } from '../failures';
import { transactionsQuery } from '../transaction/queries';
import { isReadable, type Transaction } from '../transaction/transaction';
import { transactionsTexts, type TransactionsTexts } from '../transactions-texts';
import { exportTransactions } from './export-transactions';
import { factsOf, isFiltering, selectTransactions } from './select-transactions';
import { TransactionTable } from './TransactionTable';
import classes from './TransactionsPage.module.css';
import { useTransactionListState } from './useTransactionListState';

const statusOptions = ({ allStatuses, statuses }: TransactionsTexts) =>
  [
    { value: 'all', label: allStatuses },
    ...Object.entries(statuses).map(([value, label]) => ({ value, label })),
  ] as { value: PayoutStatus | 'all'; label: string }[];

/** All payouts, including failed and pending ones, with search, filter and pages. */
export default function TransactionsPage() {
  const query = useQuery(transactionsQuery());
  const { title } = transactionsTexts();
  return (
    <QueryStates
      query={query}
      failure={failures().transactions}
      // The place of the count, so that the list stays where it is.
      header={<PageHeader title={title} subtitle={'\u00a0'} />}
    >
      {(transactions) => (
        <History
          // Days and names that are filtered by are those of the language and the time zone; the address has the filters.
          key={`${language.current} ${portalSettings().timeZone}`}
          transactions={transactions}
          // Where the list follows by itself, a refetch shows nothing but its result.
          isBusy={query.isFetching && !isLive()}
        />
      )}
    </QueryStates>
  );
}

function History({ transactions, isBusy }: { transactions: readonly Transaction[]; isBusy: boolean }) {
  const { state, change, filter } = useTransactionListState();
  const { search, status, type, filters, pageSize } = state;
  const texts = transactionsTexts();
  const readable = useMemo(() => transactions.filter(isReadable), [transactions]);
  const unreadable = useMemo(() => transactions.filter((one) => !isReadable(one)), [transactions]);
  // Turning the page must not search 100,000 records again.
  const selected = useMemo(
    () => selectTransactions(readable, { search, status, type, filters }),
    [readable, search, status, type, filters],
  );
  const last = Math.max(1, Math.ceil(selected.length / pageSize));
  const page = Math.min(state.page, last);
  // Nothing is known of what can't be read, so that no search or filter finds it.
  const hasUnreadable = page === last && !isFiltering(state);
  const shown = useMemo(() => {
    const rows = selected.slice((page - 1) * pageSize, page * pageSize);
    return hasUnreadable ? [...rows, ...unreadable] : rows;
  }, [selected, unreadable, hasUnreadable, page, pageSize]);

  return (
    <>
      <PageHeader
        title={texts.title}
        subtitle={
          <>
            <span role="status">{texts.found(selected.length)}</span>
            {unreadable.length > 0 ? (
              <>
                {' · '}
                <span className={classes.unreadable}>{texts.cannotBeRead(unreadable.length)}</span>
              </>
            ) : null}
          </>
        }
        action={
          isLive() && selected.length > 0 ? (
            <Button icon={<Icon name="download" size={15} />} onClick={() => exportTransactions(selected)}>
              {texts.export}
            </Button>
          ) : null
        }
      />
      <Card flush>
        <ListTools
          search={
            <SearchBox
              label={texts.search}
              placeholder={texts.searchPlaceholder}
              value={search}
              onSearch={(text) => change({ search: text })}
            />
          }
          filter={
            <Select
              aria-label={texts.status}
              virtual={false}
              options={statusOptions(texts)}
              value={status}
              onChange={(chosen) => change({ status: chosen })}
            />
          }
        >
          {isLive() ? (
            <Filters
              label={texts.moreFilters}
              dates={texts.disbursedOn}
              people={{ approver: texts.approver, disburser: texts.disburser }}
              rows={readable}
              factsOf={factsOf}
              value={filters}
              onChange={filter}
            />
          ) : (
            <Button icon={<Icon name="filter" size={15} />}>{texts.moreFilters}</Button>
          )}
        </ListTools>
        {shown.length === 0 ? (
          <EmptyState
            title={texts.noneFound}
            text={isFiltering(state) ? texts.adjustSearch : texts.willAppear}
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
