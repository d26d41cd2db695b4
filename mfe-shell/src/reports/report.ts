import type { Schema } from 'mfe-kit';

/** An event of a build on this page: it was loaded or not, it crashed, or its calls failed. */
export type Report = Schema<'SliceReport'>;

let send: ((report: Report) => void) | null = null;

const reported = new Set<string>();

/** Reports what happened to a build. A page counts once for each outcome of a build. */
export function report(given: Report): void {
  const key = `${given.slice} ${given.version} ${given.outcome}`;
  if (reported.has(key)) return;
  reported.add(key);
  send?.(given);
}

/** Passes reports on from now on; without a receiver, they are dropped. */
export function onReport(receive: typeof send): void {
  send = receive;
}

/** Forgets what this page has reported, for tests: each is a page of its own. */
export function newPage(): void {
  reported.clear();
}
