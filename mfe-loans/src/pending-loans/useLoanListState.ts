import { isLive } from 'mfe-kit';
import { filtersFrom, NO_FILTERS, type Sort, writeFilters } from 'mfe-kit/ui-data';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { BANDS, type LoanListState, SORTS } from './select-loans';

/** The list's state, which is in the address, so that a reload, Back and a shared link keep it. */
export function useLoanListState() {
  const [params, setParams] = useSearchParams();
  const state = useMemo(() => stateFrom(params), [params]);

  function change(changes: Partial<LoanListState>) {
    setParams(paramsOf({ ...state, ...changes }), { replace: true, preventScrollReset: true });
  }

  /** Ascending first, then alternating; there is no unsorted state in between (REQ-213). */
  function sortBy(key: string) {
    const isAscending = state.sort?.key === key && state.sort.direction === 'ascending';
    change({ sort: { key, direction: isAscending ? 'descending' : 'ascending' } });
  }

  return { state, change, sortBy };
}

function stateFrom(params: URLSearchParams): LoanListState {
  return {
    search: params.get('search') ?? '',
    band: BANDS.find((band) => band === params.get('band')) ?? 'all',
    sort: sortFrom(params.get('sort')),
    filters: isLive() ? filtersFrom(params) : NO_FILTERS,
  };
}

function paramsOf({ search, band, sort, filters }: LoanListState): URLSearchParams {
  const params = new URLSearchParams({
    ...(search ? { search } : {}),
    ...(band === 'all' ? {} : { band }),
    ...(sort ? { sort: `${sort.key}:${sort.direction}` } : {}),
  });
  writeFilters(params, filters);
  return params;
}

function sortFrom(text: string | null): Sort | null {
  const [key = '', direction] = text?.split(':') ?? [];
  return Object.hasOwn(SORTS, key) && (direction === 'ascending' || direction === 'descending')
    ? { key, direction }
    : null;
}
