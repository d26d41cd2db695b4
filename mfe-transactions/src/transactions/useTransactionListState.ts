import { useSearchParams } from 'react-router';
import type { TransactionFilter } from './select-transactions';

/** What the list is narrowed to, and which part of it is shown. */
export interface TransactionListState extends TransactionFilter {
  /** Counted from 1. */
  page: number;
  pageSize: number;
}

const STATUSES = ['success', 'failed', 'pending'] as const;
const DEFAULT_PAGE_SIZE = 7;
const PAGE_SIZES = [DEFAULT_PAGE_SIZE, 10, 25, 50, 100];

/** The list's state in the address, so that a reload, Back and a shared link keep it. */
export function useTransactionListState() {
  const [params, setParams] = useSearchParams();
  const page = Number(params.get('page'));
  const pageSize = Number(params.get('size'));
  const state: TransactionListState = {
    search: params.get('search') ?? '',
    status: STATUSES.find((status) => status === params.get('status')) ?? 'all',
    type: 'all',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    pageSize: PAGE_SIZES.includes(pageSize) ? pageSize : DEFAULT_PAGE_SIZE,
  };

  /** Whatever is changed but the page itself leads back to the first one (REQ-291, REQ-292). */
  function change(changes: Partial<Omit<TransactionListState, 'type'>>) {
    const next = { ...state, page: 1, ...changes };
    const address = new URLSearchParams(params);
    write(address, 'search', next.search, '');
    write(address, 'status', next.status, 'all');
    write(address, 'page', String(next.page), '1');
    write(address, 'size', String(next.pageSize), String(DEFAULT_PAGE_SIZE));
    setParams(address, { replace: true, preventScrollReset: true });
  }

  return { state, change };
}

/** What a list starts with is not written down, so that addresses stay short. */
function write(address: URLSearchParams, name: string, value: string, start: string) {
  if (value === start) address.delete(name);
  else address.set(name, value);
}
