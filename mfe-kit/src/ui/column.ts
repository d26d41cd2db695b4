import type { ReactNode } from 'react';

/** By what, and which way, a list is ordered. */
export interface Sort {
  key: string;
  direction: 'ascending' | 'descending';
}

/** One column of a table. */
export interface Column<Row> {
  key: string;
  title: string;
  /** What stands in the cell of a row. */
  cell: (row: Row) => ReactNode;
  /** Whether the title is a button that calls `onSort`. */
  isSortable?: boolean;
  /** Amounts stand at the right. */
  align?: 'right';
  /**
   * Where the cell goes below 768 px, where a row becomes an entry of a list: `who` and `amount`
   * make the first line, a `plain` one stands under them without its title, the others follow with
   * their titles, and an `act` stands at the end.
   */
  narrow?: 'who' | 'amount' | 'plain' | 'act';
}
