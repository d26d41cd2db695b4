/** A page's number, or an ellipsis between numbers. */
export type PageButton = number | 'gap-before' | 'gap-after';

const ALL_SHOWN = 7;

/** The buttons of a list's pages, at most seven of them (REQ-304 to REQ-308). */
export function pageButtons(current: number, last: number): PageButton[] {
  if (last <= ALL_SHOWN) return range(1, last);
  if (current <= 4) return [...range(1, 5), 'gap-after', last];
  if (current >= last - 3) return [1, 'gap-before', ...range(last - 4, last)];
  return [1, 'gap-before', ...range(current - 1, current + 1), 'gap-after', last];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
