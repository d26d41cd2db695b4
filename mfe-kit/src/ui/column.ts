import type { ReactNode } from 'react';

/** The order of a list. */
export interface Sort {
  key: string;
  direction: 'ascending' | 'descending';
}

/** One column of a table. */
export interface Column<Row> {
  key: string;
  title: string;
  /** Draws the cell of a row. */
  cell: (row: Row) => ReactNode;
  /** `true` if the title is a button that calls `onSort`. */
  isSortable?: boolean;
  /** For amounts. */
  align?: 'right';
  /**
   * The cell's place on narrow screens, where each row is drawn as an entry of a list: `who` and `amount`
   * make the first line, `plain` follows without its title, then the others with their titles, and
   * `act` comes last.
   */
  narrow?: 'who' | 'amount' | 'plain' | 'act';
}
