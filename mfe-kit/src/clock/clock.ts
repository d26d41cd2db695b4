/** A `Date` header has whole seconds; a smaller difference is not a wrong clock. */
const RESOLUTION_MS = 2000;

let offset = 0;

/**
 * The current time by the provider's clock, which dates the records and decides what 'today' is. Until the
 * first answer it is this machine's.
 */
export function now(): Date {
  return new Date(Date.now() + offset);
}

/** Sets the clock by an answer of the provider that has a `Date`, and arrived `at` that time of this machine. */
export function setClockBy(headers: Headers, at: number): void {
  const time = Date.parse(headers.get('Date') ?? '');
  if (Number.isNaN(time)) return;
  const difference = time - at;
  offset = Math.abs(difference) < RESOLUTION_MS ? 0 : difference;
}
