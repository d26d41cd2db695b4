import type { Schema } from 'mfe-kit';

/** An event of a build on this page: it was loaded or not, it crashed, or its calls failed. */
export type Report = Schema<'SliceReport'>;

/** Reports from before the page sends them. */
let early: Report[] | null = [];
let send: (report: Report) => void = (report) => void early?.push(report);

const reported = new Set<string>();

/** Reports what happened to a build. A page counts once for each outcome of a build. */
export function report(given: Report): void {
  const key = `${given.slice} ${given.version} ${given.outcome}`;
  if (reported.has(key)) return;
  reported.add(key);
  send(given);
}

/** Passes all reports on, those of before too; without a receiver, reports are dropped. */
export function onReport(receive: ((report: Report) => void) | null): void {
  early?.forEach((given) => receive?.(given));
  early = null;
  send = receive ?? (() => undefined);
}

/** Forgets what this page has reported, for tests: each is a page of its own. */
export function newPage(): void {
  reported.clear();
  early = [];
  send = (given) => void early?.push(given);
}
