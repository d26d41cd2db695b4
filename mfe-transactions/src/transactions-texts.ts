import { catalogue, plural } from 'mfe-kit';

const english = {
  title: 'Transaction History',
  transactions: 'Transactions',
  export: 'Export CSV',
  found: (count: number) => `${count} transaction(s) found`,
  cannotBeRead: (count: number) => `${count} ${plural(count, { one: 'row', other: 'rows' })} can’t be read`,
  search: 'Search transactions',
  searchPlaceholder: 'Search transactions...',
  status: 'Status',
  allStatuses: 'All Statuses',
  statuses: { success: 'Successful', failed: 'Failed', pending: 'Pending' },
  moreFilters: 'More Filters',
  disbursedOn: 'Disbursed',
  approver: 'Approved by',
  disburser: 'Disbursed by',
  noneFound: 'No transactions found',
  adjustSearch: 'Try adjusting your search or filters',
  willAppear: 'Transactions will appear here once loans are disbursed',
  customerName: 'Customer Name',
  idNumber: (id: string) => `ID ${id}`,
  date: 'Disb Date',
  amount: 'Amount',
  reference: 'Reference',
  copyReference: (reference: string) => `Copy reference ${reference}`,
  missing: 'N/A',
  unreadable: 'This row could not be read',
  approvedBy: 'Approved By',
  // The product misspells this label, and it is kept (REQ-285).
  disbursedBy: 'Dibursed By',
  supervisor: 'Supervisor',
  agent: 'Agent',
  notFetched: 'Failed to fetch transactions',
  notLoaded: 'Failed to load transactions',
};

export type TransactionsTexts = typeof english;

export const transactionsTexts = catalogue(english, { sw: () => import('./transactions-texts-sw') });
