import { startOfDate, wholeNumberIn } from 'mfe-kit';

/** The filters of a list beside its search, as in the address; '' where one is not set. */
export interface ListFilters {
  /** The first and the last day, such as '2026-11-14'. */
  from: string;
  to: string;
  /** The lowest and the highest amount in KES, in digits. */
  min: string;
  max: string;
  /** A name as the list shows it. */
  approver: string;
  disburser: string;
}

/** The facts of a row that the filters of a list need. */
export interface FilteredFacts {
  /** A time in RFC 3339; '' if it is missing. */
  date: string;
  /** `null` if it can't be read. */
  amount: number | null;
  /** The names as the list shows them. */
  approver?: string;
  disburser?: string;
}

/** No filter is set. */
export const NO_FILTERS: ListFilters = { from: '', to: '', min: '', max: '', approver: '', disburser: '' };

const KEYS = Object.keys(NO_FILTERS) as (keyof ListFilters)[];

/** The filters in an address; what is not a day or an amount is left out. */
export function filtersFrom(address: URLSearchParams): ListFilters {
  const filters = { ...NO_FILTERS };
  for (const key of KEYS) filters[key] = accepted(key, address.get(key) ?? '');
  return filters;
}

/** Writes the filters that are set into an address, and removes the others. */
export function writeFilters(address: URLSearchParams, filters: ListFilters): void {
  for (const key of KEYS) {
    const value = accepted(key, filters[key]);
    if (value) address.set(key, value);
    else address.delete(key);
  }
}

/** The number of filters that are set; a range counts as one. */
export function countFilters({ from, to, min, max, approver, disburser }: ListFilters): number {
  return [from || to, min || max, approver, disburser].filter(Boolean).length;
}

/** A function that tells whether a row passes the filters; `null` if none is set. Ranges are inclusive. */
export function rowFilter(filters: ListFilters): ((facts: FilteredFacts) => boolean) | null {
  if (countFilters(filters) === 0) return null;
  const { from, to, min, max, approver, disburser } = filters;
  const first = startOfDate(from)?.getTime() ?? -Infinity;
  const end = startOfDate(to, 1)?.getTime() ?? Infinity;
  const [lowest, highest] = [min ? Number(min) : -Infinity, max ? Number(max) : Infinity];
  const isWithin = (time: number) => time >= first && time < end;
  return (facts) =>
    (!(min || max) || (facts.amount !== null && facts.amount >= lowest && facts.amount <= highest)) &&
    (!(from || to) || isWithin(Date.parse(facts.date))) &&
    (!approver || facts.approver === approver) &&
    (!disburser || facts.disburser === disburser);
}

/** A typed amount as in the address; '' if it is none. */
export function amountFilter(typed: string): string {
  return accepted('min', String(wholeNumberIn(typed)));
}

function accepted(key: keyof ListFilters, value: string): string {
  if (key === 'from' || key === 'to') return startOfDate(value) ? value : '';
  if (key === 'min' || key === 'max') return /^\d{1,9}$/.test(value) ? value : '';
  return value;
}
