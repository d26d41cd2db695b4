import type { Column, Sort } from './column';
import classes from './DataTable.module.css';
import { Icon } from './Icon';
import { listTexts } from './list-texts';
import { Spinner } from './Spinner';
import { isDrawnInBlocks, TableRows } from './TableRows';
import { useMediaQuery } from './useMediaQuery';

/** The viewport width from which a table is drawn; a narrower one gets a list. */
const TABLE_FROM_PX = 960;
const DENSE_TABLE_FROM_PX = 1200;

interface DataTableProps<Row> {
  /** Names the table for assistive technology. */
  label: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  /** The key of a row; a row with '' is identified by its position. */
  rowKey: (row: Row) => string;
  sort?: Sort;
  /** Called with the column's key; the screen decides on the direction. */
  onSort?: (key: string) => void;
  /** `true` while the rows are being read again; they stay visible under a spinner. */
  isBusy?: boolean;
  /** For many columns: smaller padding, and a list below 1200 px instead of 960 px. */
  isDense?: boolean;
}

/**
 * Rows as a table, and below 960 px as a list. Sorting has two states, by pointer, Enter or Space. A click on a row
 * follows its link, the one in the column that comes last on narrow screens (`narrow: 'act'`).
 * Of more than 50 rows only those near the viewport are drawn. Pass the same `columns` and `rows` objects
 * as long as their content is the same.
 */
export function DataTable<Row>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
  isBusy = false,
  isDense = false,
}: DataTableProps<Row>) {
  const inBlocks = isDrawnInBlocks(rows);
  const isList = useMediaQuery(`(max-width: ${(isDense ? DENSE_TABLE_FROM_PX : TABLE_FROM_PX) - 1}px)`);

  // The roles are explicit because the list's `display` values would remove them.
  return (
    <div
      className={classes.frame}
      data-form={isList ? 'list' : 'table'}
      data-dense={isDense}
      aria-busy={isBusy}
    >
      <table
        className={classes.table}
        role="table"
        aria-label={label}
        aria-rowcount={inBlocks ? rows.length + 1 : undefined}
      >
        <thead role="rowgroup">
          <tr role="row" data-title={listTexts().sortBy}>
            {columns.map((column) => (
              <th
                key={column.key}
                role="columnheader"
                scope="col"
                // Rows that are added and removed must not change the widths of a table's columns.
                style={inBlocks && !isList ? { width: widthOf(column, columns.length) } : undefined}
                data-sortable={column.isSortable ?? false}
                className={column.align === 'right' ? classes.right : undefined}
                aria-sort={
                  column.isSortable ? (sort?.key === column.key ? sort.direction : 'none') : undefined
                }
              >
                {column.isSortable ? (
                  <button type="button" className={classes.sort} onClick={() => onSort?.(column.key)}>
                    {column.title}
                    <Icon name={sort?.key === column.key ? sort.direction : 'sortable'} size={14} />
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <TableRows columns={columns} rows={rows} rowKey={rowKey} />
      </table>
      {isBusy ? (
        <div className={classes.veil}>
          <Spinner />
        </div>
      ) : null}
    </div>
  );
}

function widthOf({ narrow }: Pick<Column<never>, 'narrow'>, columns: number): string {
  return narrow === 'who' ? '30%' : `${70 / (columns - 1)}%`;
}
