import { portalSettings, saveFile } from 'mfe-kit';

/** Rows as CSV (RFC 4180). */
export function csvOf(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value);
  // A spreadsheet would compute a text that starts like this.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A time as spreadsheets read it, '2026-11-14 00:00', in a time zone; '' if there is none. */
export function csvTime(time: string, timeZone = portalSettings().timeZone): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '';
  // Swedish writes times like this.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
}

export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  // Excel reads UTF-8 by the mark at its start only.
  saveFile(name, new Blob(['\ufeff', csvOf(rows)], { type: 'text/csv;charset=utf-8' }));
}
