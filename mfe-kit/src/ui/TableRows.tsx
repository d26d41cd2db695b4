import { portalSettings } from 'mfe-kit';
import { memo, type MouseEvent, startTransition, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Column } from './column';
import classes from './DataTable.module.css';

/** Lists of up to this many rows are drawn completely; longer ones only near the viewport. */
const DRAWN_WHOLE = 50;

/** Rows that are drawn or omitted together. */
const BLOCK = 20;

/** CSS pixels around the viewport within which rows are drawn, so that scrolling shows no gap. */
const NEAR_PX = 1000;

/** Assumed height of a row, in CSS pixels, until one has been measured. */
const ROW_PX = 64;

interface TableRowsProps<Row> {
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}

/** Returns whether a list of this length omits the rows that are far from the viewport. */
export function isDrawnInBlocks(rows: readonly unknown[]): boolean {
  return rows.length > DRAWN_WHOLE;
}

/**
 * The rows of a table. A long list is drawn in blocks: those near the viewport, with empty space for
 * the others. Find-in-page and printing need all rows, and draw them.
 */
export function TableRows<Row>(props: TableRowsProps<Row>) {
  const { rows } = props;
  const isWhole = useDrawnWhole(rows);
  const [rowHeight, setRowHeight] = useState(ROW_PX);
  const first = useRef<HTMLTableSectionElement>(null);

  useLayoutEffect(() => {
    const height = Math.round((first.current?.getBoundingClientRect().height ?? 0) / BLOCK);
    if (height > 0) setRowHeight(height);
  }, [rows]);

  if (!isDrawnInBlocks(rows))
    return (
      <tbody role="rowgroup">
        <Rows {...props} />
      </tbody>
    );

  const starts = Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, index) => index * BLOCK);
  return starts.map((start) =>
    start === 0 || isWhole ? (
      <tbody key={start} role="rowgroup" ref={start === 0 ? first : null}>
        <Rows {...props} start={start} />
      </tbody>
    ) : (
      <Block key={start} {...props} start={start} rowHeight={rowHeight} />
    ),
  );
}

/** Rows that are drawn while the viewport is near; otherwise a space of the same height. */
function Block<Row>({
  start,
  rowHeight,
  ...props
}: TableRowsProps<Row> & { start: number; rowHeight: number }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [isNear, setNear] = useState(false);
  const count = Math.min(BLOCK, props.rows.length - start);

  useEffect(() => {
    if (!body.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const isInside = entries.at(-1)?.isIntersecting ?? false;
        // A row that contains the focus must not be removed.
        setNear(isInside || (body.current?.contains(document.activeElement) ?? false));
      },
      { rootMargin: `${NEAR_PX}px 0px` },
    );
    observer.observe(body.current);
    return () => observer.disconnect();
  }, []);

  return (
    <tbody ref={body} role="rowgroup" aria-hidden={isNear ? undefined : true}>
      {isNear ? (
        <Rows {...props} start={start} />
      ) : (
        <tr role="row" className={classes.space} style={{ height: rowHeight * count }}>
          <td role="cell" colSpan={props.columns.length} />
        </tr>
      )}
    </tbody>
  );
}

/** The rows of the block that begins at `start`; without it, all rows. */
function Rows<Row>({ columns, rows, rowKey, start }: TableRowsProps<Row> & { start?: number }) {
  const drawn = start === undefined ? rows : rows.slice(start, start + BLOCK);
  return drawn.map((row, index) => (
    <TableRow
      key={rowKey(row) || index}
      columns={columns}
      row={row}
      timeZone={portalSettings().timeZone}
      position={start === undefined ? undefined : start + index + 2}
    />
  ));
}

interface TableRowProps<Row> {
  columns: Column<Row>[];
  row: Row;
  /** That of the dates in its cells; another one draws it again. */
  timeZone: string;
  /** The row's number in the table, counting the head, where not all rows are drawn. */
  position: number | undefined;
}

/** Drawn again only when its row changes, so that filtering a list costs only the new rows. */
const TableRow = memo(function TableRow<Row>({ columns, row, position }: TableRowProps<Row>) {
  return (
    // Keyboards have the link.
    <tr role="row" aria-rowindex={position} onClick={followLink}>
      {columns.map((column) => (
        <td
          key={column.key}
          role="cell"
          data-title={column.title}
          data-narrow={column.narrow ?? 'titled'}
          className={column.align === 'right' ? classes.right : undefined}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}) as <Row>(props: TableRowProps<Row>) => React.ReactNode;

/** A click on a row follows its link, unless it is one on a control or the end of a selection of text. */
function followLink({ target, currentTarget, nativeEvent }: MouseEvent<HTMLTableRowElement>) {
  if (!(target instanceof Element) || target.closest('a, button, input, label, [role="tooltip"]')) return;
  if (window.getSelection()?.isCollapsed === false) return;
  const link = currentTarget.querySelector('[data-narrow="act"] a');
  link?.dispatchEvent(new globalThis.MouseEvent('click', nativeEvent));
}

function useDrawnWhole(rows: readonly unknown[]): boolean {
  // Until the list changes: browsers do not tell when a search has ended.
  const [wholeRows, setWholeRows] = useState<readonly unknown[] | null>(null);

  useEffect(() => {
    if (!isDrawnInBlocks(rows)) return;
    const onKey = ({ key, ctrlKey, metaKey }: KeyboardEvent) => {
      if (key.toLowerCase() === 'f' && (ctrlKey || metaKey)) startTransition(() => setWholeRows(rows));
    };
    const onPrint = () => flushSync(() => setWholeRows(rows));
    const onPrinted = () => setWholeRows(null);
    window.addEventListener('keydown', onKey);
    window.addEventListener('beforeprint', onPrint);
    window.addEventListener('afterprint', onPrinted);
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('beforeprint', onPrint);
      window.removeEventListener('afterprint', onPrinted);
    };
  }, [rows]);

  return wholeRows === rows;
}
