import { bareNumber, formatMoney, localPhone, searched } from 'mfe-kit';
import { countFilters, type FilteredFacts, type ListFilters, rowFilter, type Sort } from 'mfe-kit/ui-data';
import type { Loan } from '../loan/loan';
import { loansTexts, type LoansTexts } from '../loans-texts';

/** The amount bands; 25,000 and 75,000 belong to the middle one. */
export const BANDS = ['all', 'below', 'middle', 'above'] as const;
export type Band = (typeof BANDS)[number];

const [LOW, HIGH] = [25_000, 75_000];

export function bandOptions(texts: LoansTexts): { value: Band; label: string }[] {
  return [
    { value: 'all', label: texts.allAmounts },
    { value: 'below', label: texts.below(formatMoney(LOW)) },
    { value: 'middle', label: 'KES 25,000 - 75,000' },
    { value: 'above', label: texts.above(formatMoney(HIGH)) },
  ];
}

export interface LoanListState {
  search: string;
  band: Band;
  sort: Sort | null;
  /** None is set where the screens are the specified ones. */
  filters: ListFilters;
}

/** `NaN`, an amount that can't be read, is in no band. */
const IN_BAND: Record<Band, (amount: number) => boolean> = {
  all: () => true,
  below: (amount) => amount < LOW,
  middle: (amount) => amount >= LOW && amount <= HIGH,
  above: (amount) => amount > HIGH,
};

/** The sort keys of the list; '' and NaN mean that the value is missing. */
export const SORTS: Record<string, (loan: Loan) => string | number> = {
  'customer.name': ({ customer }) => searched(customer.name),
  amount: ({ amount }) => amount ?? NaN,
  approvedDate: ({ approvedDate }) => Date.parse(approvedDate),
};

export function factsOf({ approvedDate, amount, approvedBy }: Loan): FilteredFacts {
  return { date: approvedDate, amount, approver: approvedBy || loansTexts().missing };
}

export function selectLoans(loans: readonly Loan[], { search, band, sort, filters }: LoanListState): Loan[] {
  const isFound = finder(search);
  const passes = rowFilter(filters);
  const selected = loans.filter(
    (loan) =>
      IN_BAND[band](loan.amount ?? NaN) && isFound(loan) && (passes === null || passes(factsOf(loan))),
  );
  const valueOf = sort && SORTS[sort.key];
  if (!valueOf) return selected;
  const sign = sort.direction === 'ascending' ? 1 : -1;
  return selected
    .map((loan) => ({ loan, value: valueOf(loan) }))
    .sort((a, b) => compare(a.value, b.value, sign))
    .map(({ loan }) => loan);
}

export function isFiltering({ search, band, filters }: LoanListState): boolean {
  return search.trim() !== '' || band !== 'all' || countFilters(filters) > 0;
}

/** Missing values come last in both directions. */
function compare(a: string | number, b: string | number, sign: 1 | -1): number {
  if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
  return a < b ? -sign : Number(a > b) * sign;
}

function isMissing(value: string | number): boolean {
  return value === '' || Number.isNaN(value);
}

interface Searched {
  words: string;
  numbers: string;
}

const searchedOf = new WeakMap<Loan, Searched>();

/** The searched text of a loan, made once: at each keystroke, that would take too long for 10,000 loans. */
function searchedIn(loan: Loan): Searched {
  const known = searchedOf.get(loan);
  if (known) return known;
  const { phoneNumber, nationalId, name } = loan.customer;
  const local = localPhone(phoneNumber);
  const made = {
    words: [name, loan.id, phoneNumber, nationalId].map(searched).join('\n'),
    numbers: [...new Set([phoneNumber, local, `+254${local.slice(1)}`, nationalId].map(bareNumber))].join(
      '\n',
    ),
  };
  searchedOf.set(loan, made);
  return made;
}

/** Numbers are found however they are grouped. */
function finder(search: string): (loan: Loan) => boolean {
  const text = searched(search);
  const number = bareNumber(text);
  const isNumber = /^\+?\d+$/.test(number);
  return (loan) =>
    text === '' ||
    searchedIn(loan).words.includes(text) ||
    (isNumber && searchedIn(loan).numbers.includes(number));
}
