import { isLive } from 'mfe-kit';
import {
  filtersFrom,
  type ListFilters,
  NO_FILTERS,
  type Sort,
  useAddressState,
  writeFilters,
} from 'mfe-kit/ui-data';
import { BANDS, type LoanListState, SORTS } from './select-loans';

/** The list's state, which is in the address, so that a reload, Back and a shared link keep it. */
export function useLoanListState() {
  const [state, change] = useAddressState(read, write);
  return {
    state,
    change: (changes: Partial<LoanListState>) => change(() => changes),
    filter: (changes: Partial<ListFilters>) =>
      change(({ filters }) => ({ filters: { ...filters, ...changes } })),
    /** Ascending first, then alternating; there is no unsorted state in between (REQ-213). */
    sortBy: (key: string) =>
      change(({ sort }) => {
        const isAscending = sort?.key === key && sort.direction === 'ascending';
        return { sort: { key, direction: isAscending ? 'descending' : 'ascending' } };
      }),
  };
}

function read(address: URLSearchParams): LoanListState {
  return {
    search: address.get('search') ?? '',
    band: BANDS.find((band) => band === address.get('band')) ?? 'all',
    sort: sortFrom(address.get('sort')),
    filters: isLive() ? filtersFrom(address) : NO_FILTERS,
  };
}

function write(address: URLSearchParams, { search, band, sort, filters }: LoanListState) {
  address.set('search', search);
  address.set('band', band === 'all' ? '' : band);
  address.set('sort', sort ? `${sort.key}:${sort.direction}` : '');
  if (isLive()) writeFilters(address, filters);
}

function sortFrom(text: string | null): Sort | null {
  const [key = '', direction] = text?.split(':') ?? [];
  return Object.hasOwn(SORTS, key) && (direction === 'ascending' || direction === 'descending')
    ? { key, direction }
    : null;
}
