/** A moment, such as `new Date()` or `'2026-12-24T06:00:00Z'`. */
export type Moment = Date | string;

/** A length of time as the contract writes it, such as `'90s'`, `'15m'`, `'12h'`, `'2d'` or `'1h30m'`. */
export type Duration = string;

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The length in milliseconds. */
export function milliseconds(duration: Duration): number {
  const parts = [...duration.matchAll(/(\d+)(ms|[smhd])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}

/** The moment as the contract writes it. */
export function written(moment: Moment): string {
  return typeof moment === 'string' ? moment : moment.toISOString();
}
