/** A moment, such as `new Date()` or `'2026-12-24T06:00:00Z'`. */
export type Moment = Date | string;

/** A length of time as the contract writes it, such as `'90s'`, `'15m'`, `'12h'`, `'2d'` or `'1h30m'`. */
export type Duration = string;

/** The moment as the contract writes it. */
export function written(moment: Moment): string {
  return typeof moment === 'string' ? moment : moment.toISOString();
}
