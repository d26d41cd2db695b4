import { localPhone } from 'mfe-kit';
import type { Sort } from 'mfe-kit/ui-data';
import type { Loan } from '../loan/loan';

export type Band = 'all' | 'below' | 'middle' | 'above';

/** The amount bands; 25,000 and 75,000 belong to the middle one. */
export const BANDS: { value: Band; label: string }[] = [
  { value: 'all', label: 'All Amounts' },
  { value: 'below', label: 'Below KES 25,000' },
  { value: 'middle', label: 'KES 25,000 - 75,000' },
  { value: 'above', label: 'Above KES 75,000' },
];

/** What the list is narrowed to, and how it is ordered. */
export interface LoanListState {
  search: string;
  band: Band;
  sort: Sort | null;
}

const IN_BAND: Record<Band, (amount: number) => boolean> = {
  all: () => true,
  below: (amount) => amount < 25_000,
  middle: (amount) => amount >= 25_000 && amount <= 75_000,
  above: (amount) => amount > 75_000,
};

const names = new Intl.Collator('en-KE', { sensitivity: 'base' });

const ORDERS: Record<string, (a: Loan, b: Loan) => number> = {
  'customer.name': (a, b) => names.compare(a.customer.name, b.customer.name),
  amount: (a, b) => a.amount - b.amount,
  approvedDate: (a, b) => Date.parse(a.approvedDate) - Date.parse(b.approvedDate),
};

/** The loans of a list that its state lets through, in its order. */
export function selectLoans(loans: readonly Loan[], { search, band, sort }: LoanListState): Loan[] {
  const selected = loans.filter((loan) => IN_BAND[band](loan.amount) && isFound(loan, search.trim()));
  const order = sort && ORDERS[sort.key];
  if (!order) return selected;
  return selected.sort(sort.direction === 'ascending' ? order : (a, b) => order(b, a));
}

function isFound({ id, customer }: Loan, search: string): boolean {
  const text = search.toLowerCase();
  return (
    customer.name.toLowerCase().includes(text) ||
    id.toLowerCase().includes(text) ||
    customer.phoneNumber.includes(search) ||
    localPhone(customer.phoneNumber).includes(search) ||
    customer.nationalId.includes(search)
  );
}
