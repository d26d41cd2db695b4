import { isLive } from 'mfe-kit';
import { filtersFrom, type ListFilters, NO_FILTERS, useAddressState, writeFilters } from 'mfe-kit/ui-data';
import type { TransactionFilter } from './select-transactions';

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
  const [state, change] = useAddressState(read, write);
  // Any change except of the page itself returns to page 1 (REQ-291, REQ-292).
  return {
    state,
    change: (changes: Partial<Omit<TransactionListState, 'type'>>) => change(() => ({ page: 1, ...changes })),
    filter: (changes: Partial<ListFilters>) =>
      change(({ filters }) => ({ page: 1, filters: { ...filters, ...changes } })),
  };
}

function read(address: URLSearchParams): TransactionListState {
  const page = Number(address.get('page'));
  const pageSize = Number(address.get('size'));
  return {
    search: address.get('search') ?? '',
    status: STATUSES.find((status) => status === address.get('status')) ?? 'all',
    type: 'all',
    filters: isLive() ? filtersFrom(address) : NO_FILTERS,
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    pageSize: PAGE_SIZES.includes(pageSize) ? pageSize : DEFAULT_PAGE_SIZE,
  };
}

/** Default values are left out, to keep the address short. */
function write(address: URLSearchParams, { search, status, filters, page, pageSize }: TransactionListState) {
  address.set('search', search);
  address.set('status', status === 'all' ? '' : status);
  if (isLive()) writeFilters(address, filters);
  address.set('page', page === 1 ? '' : String(page));
  address.set('size', pageSize === DEFAULT_PAGE_SIZE ? '' : String(pageSize));
}
