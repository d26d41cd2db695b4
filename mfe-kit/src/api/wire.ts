/** Half of a character, which JSON can hold and no address, file or body can. */
const HALF = /\p{Surrogate}/gu;

/** What could be one: most texts have none, and this is found out in a quarter of the time. */
const MAYBE_HALF = /[\ud800-\udfff]/;

/**
 * A field of the wire as text, also a number; '' for anything else. Providers differ in the types that they send. Half
 * of a character becomes the sign for one that can't be read.
 */
export function textFrom(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return '';
  return MAYBE_HALF.test(value) ? value.replaceAll(HALF, '\ufffd') : value;
}

/** A field of the wire as a number, also one in a text; 0 for anything else. */
export function numberFrom(value: unknown): number {
  const number = Number(textFrom(value));
  return Number.isFinite(number) ? number : 0;
}
