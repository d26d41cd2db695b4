import { isLive } from 'mfe-kit';
import { filtersFrom, NO_FILTERS, writeFilters } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { TransactionFilter } from './select-transactions';

/** The search, filters and page of the list. */
export interface TransactionListState extends TransactionFilter {
  /** Starts at 1. */
  page: number;
  pageSize: number;
}

const STATUSES = ['success', 'failed', 'pending'] as const;
const DEFAULT_PAGE_SIZE = 7;
const PAGE_SIZES = [DEFAULT_PAGE_SIZE, 10, 25, 50, 100];

/** The list's state, which is in the address, so that a reload, Back and a shared link keep it. */
export function useTransactionListState() {
  const [params, setParams] = useSearchParams();
  const page = Number(params.get('page'));
  const pageSize = Number(params.get('size'));
  const state: TransactionListState = {
    search: params.get('search') ?? '',
    status: STATUSES.find((status) => status === params.get('status')) ?? 'all',
    type: 'all',
    filters: useMemo(() => (isLive() ? filtersFrom(params) : NO_FILTERS), [params]),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    pageSize: PAGE_SIZES.includes(pageSize) ? pageSize : DEFAULT_PAGE_SIZE,
  };

  /** Any change except of the page itself returns to page 1 (REQ-291, REQ-292). */
  function change(changes: Partial<Omit<TransactionListState, 'type'>>) {
    const next = { ...state, page: 1, ...changes };
    const address = new URLSearchParams(params);
    write(address, 'search', next.search, '');
    write(address, 'status', next.status, 'all');
    if (isLive()) writeFilters(address, next.filters);
    write(address, 'page', String(next.page), '1');
    write(address, 'size', String(next.pageSize), String(DEFAULT_PAGE_SIZE));
    setParams(address, { replace: true, preventScrollReset: true });
  }

  return { state, change };
}

/** Default values are left out, to keep the address short. */
function write(address: URLSearchParams, name: string, value: string, initial: string) {
  if (value === initial) address.delete(name);
  else address.set(name, value);
}
