import { catalogue } from 'mfe-kit';

const english = {
  // Pages
  shown: (from: number, to: number, total: number) => `Showing ${from} to ${to} of ${total} results`,
  rowsPerPage: 'Rows per page',
  perPage: (size: number) => `${size} / page`,
  pages: 'Pages',
  firstPage: 'First page',
  previousPage: 'Previous page',
  page: (page: number) => `Page ${page}`,
  nextPage: 'Next page',
  lastPage: 'Last page',

  sortBy: 'Sort by',

  // Filters
  set: 'set',
  clearAll: 'Clear filters',
  datesFrom: (dates: string) => `${dates} from`,
  datesTo: (dates: string) => `${dates} to`,
  dayIsBefore: 'This day is before the first one.',
  amountFrom: 'Amount from',
  amountTo: 'Amount to',
  amountUnread: 'Enter an amount in whole KES, at most 999,999,999.',
  amountIsBelow: 'This amount is below the first one.',
  anyone: 'Anyone',
};

export type ListTexts = typeof english;

/** The texts of the parts for lists. */
export const listTexts = catalogue(english, { sw: () => import('./list-texts-sw') });
