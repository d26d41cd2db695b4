import type { Sort } from 'mfe-kit/ui-data';
import { useSearchParams } from 'react-router';
import { BANDS, type LoanListState } from './select-loans';

/** The list's state in the address, so that a reload, Back and a shared link keep it. */
export function useLoanListState() {
  const [params, setParams] = useSearchParams();
  const state: LoanListState = {
    search: params.get('search') ?? '',
    band: BANDS.find(({ value }) => value === params.get('band'))?.value ?? 'all',
    sort: sortFrom(params.get('sort')),
  };

  function change(changes: Partial<LoanListState>) {
    const next = { ...state, ...changes };
    setParams(
      {
        ...(next.search ? { search: next.search } : {}),
        ...(next.band === 'all' ? {} : { band: next.band }),
        ...(next.sort ? { sort: `${next.sort.key}:${next.sort.direction}` } : {}),
      },
      { replace: true, preventScrollReset: true },
    );
  }

  /** Ascending first, then to and fro; there is no third state (REQ-213). */
  function sortBy(key: string) {
    const isAscending = state.sort?.key === key && state.sort.direction === 'ascending';
    change({ sort: { key, direction: isAscending ? 'descending' : 'ascending' } });
  }

  return { state, change, sortBy };
}

function sortFrom(text: string | null): Sort | null {
  const [key, direction] = text?.split(':') ?? [];
  return key && (direction === 'ascending' || direction === 'descending') ? { key, direction } : null;
}
