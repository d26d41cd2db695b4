import { isLive } from 'mfe-kit';
import { filtersFrom, NO_FILTERS, type Sort, writeFilters } from 'mfe-kit/ui-data';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { BANDS, type LoanListState, SORTS } from './select-loans';

/** Browsers block more than about ten changes of the address per second. */
const ADDRESS_DELAY_MS = 150;

/**
 * The list's state, which is in the address, so that a reload, Back and a shared link keep it. The
 * list changes at once; the address is updated shortly after.
 */
export function useLoanListState() {
  const [params, setParams] = useSearchParams();
  const [ahead, setAhead] = useState<{ state: LoanListState; isWritten: boolean } | null>(null);
  const writing = useRef<ReturnType<typeof setTimeout>>(undefined);
  const writtenAt = useRef(0);
  const inAddress = useMemo(() => stateFrom(params), [params]);
  const state = ahead?.state ?? inAddress;

  // Once the address is up to date it is the source of truth again, because Back and links change it
  // too. Before it is written, it can be equal only by chance.
  if (ahead?.isWritten && String(paramsOf(ahead.state)) === String(paramsOf(inAddress))) setAhead(null);

  useEffect(() => () => clearTimeout(writing.current), []);

  function change(changes: Partial<LoanListState>) {
    const next = { ...state, ...changes };
    const write = () => {
      writtenAt.current = Date.now();
      setAhead({ state: next, isWritten: true });
      setParams(paramsOf(next), { replace: true, preventScrollReset: true });
    };
    setAhead({ state: next, isWritten: false });
    clearTimeout(writing.current);
    const due = writtenAt.current + ADDRESS_DELAY_MS - Date.now();
    if (due <= 0) write();
    else writing.current = setTimeout(write, due);
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
