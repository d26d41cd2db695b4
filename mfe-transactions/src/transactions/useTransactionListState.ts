import { useSearchParams } from 'react-router';
import type { TransactionListState } from './select-transactions';

const STATUSES = ['success', 'failed', 'pending'] as const;
const PAGE_SIZES = [7, 10, 25, 50, 100];
const DEFAULT_PAGE_SIZE = 7;

/** The list's state in the address, so that a reload, Back and a shared link keep it. */
export function useTransactionListState() {
  const [params, setParams] = useSearchParams();
  const page = Number(params.get('page'));
  const pageSize = Number(params.get('size'));
  const state: TransactionListState = {
    search: params.get('search') ?? '',
    status: STATUSES.find((status) => status === params.get('status')) ?? 'all',
    page: Number.isInteger(page) && page > 0 ? page : 1,
    pageSize: PAGE_SIZES.includes(pageSize) ? pageSize : DEFAULT_PAGE_SIZE,
  };

  /** Whatever is changed but the page itself leads back to the first one (REQ-291, REQ-292). */
  function change(changes: Partial<TransactionListState>) {
    const next = { ...state, page: 1, ...changes };
    setParams(
      {
        ...(next.search ? { search: next.search } : {}),
        ...(next.status === 'all' ? {} : { status: next.status }),
        ...(next.page === 1 ? {} : { page: String(next.page) }),
        ...(next.pageSize === DEFAULT_PAGE_SIZE ? {} : { size: String(next.pageSize) }),
      },
      { replace: true, preventScrollReset: true },
    );
  }

  return { state, change };
}
