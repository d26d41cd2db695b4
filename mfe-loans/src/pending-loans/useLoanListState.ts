import type { Sort } from 'mfe-kit/ui-data';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { BANDS, type LoanListState, SORTS } from './select-loans';

/** Browsers refuse to change the address more than about ten times a second. */
const ADDRESS_FOLLOWS_MS = 150;

/**
 * The list's state in the address, so that a reload, Back and a shared link keep it. The list itself
 * changes at once; the address follows.
 */
export function useLoanListState() {
  const [params, setParams] = useSearchParams();
  const [ahead, setAhead] = useState<{ state: LoanListState; isWritten: boolean } | null>(null);
  const writing = useRef<ReturnType<typeof setTimeout>>(undefined);
  const writtenAt = useRef(0);
  const inAddress = useMemo(() => stateFrom(params), [params]);
  const state = ahead?.state ?? inAddress;

  // The address has caught up, and rules again: Back and links change it too. One that was not
  // written yet can be the same only by chance, from before the change that is on its way to it.
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
    const due = writtenAt.current + ADDRESS_FOLLOWS_MS - Date.now();
    if (due <= 0) write();
    else writing.current = setTimeout(write, due);
  }

  /** Ascending first, then to and fro; there is no third state (REQ-213). */
  function sortBy(key: string) {
    const isAscending = state.sort?.key === key && state.sort.direction === 'ascending';
    change({ sort: { key, direction: isAscending ? 'descending' : 'ascending' } });
  }

  return { state, change, sortBy };
}

function stateFrom(params: URLSearchParams): LoanListState {
  return {
    search: params.get('search') ?? '',
    band: BANDS.find(({ value }) => value === params.get('band'))?.value ?? 'all',
    sort: sortFrom(params.get('sort')),
  };
}

function paramsOf({ search, band, sort }: LoanListState): URLSearchParams {
  return new URLSearchParams({
    ...(search ? { search } : {}),
    ...(band === 'all' ? {} : { band }),
    ...(sort ? { sort: `${sort.key}:${sort.direction}` } : {}),
  });
}

function sortFrom(text: string | null): Sort | null {
  const [key = '', direction] = text?.split(':') ?? [];
  return key in SORTS && (direction === 'ascending' || direction === 'descending')
    ? { key, direction }
    : null;
}
