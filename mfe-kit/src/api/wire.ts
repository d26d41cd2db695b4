/**
 * A field of the wire as text, also a number; '' for anything else. Providers differ in the types that they
 * send. A lone surrogate, which JSON can hold but no address, file or body can, becomes U+FFFD, the replacement character.
 */
export function textFrom(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.toWellFormed() : '';
}

/** A field of the wire as a number, also one in a text; 0 for anything else. */
export function numberFrom(value: unknown): number {
  const number = Number(textFrom(value));
  return Number.isFinite(number) ? number : 0;
}

/** Digits without the commas and letters that would leave open what is meant. */
const AMOUNT = /^[+-]?\d+(\.\d+)?$/;

/**
 * An amount of money of the wire, also one in a text; `null` for anything else. No amount is made up: one that can't be
 * read is not KES 0.
 */
export function amountFrom(value: unknown): number | null {
  const text = textFrom(value).trim();
  const amount = typeof value === 'number' || AMOUNT.test(text) ? Number(text) : NaN;
  return Number.isFinite(amount) ? amount : null;
}

/** An epoch of fewer seconds is before 1973, and stands for something else, such as no time. */
const LEAST_EPOCH_S = 1e8;
/** One of more is milliseconds; as seconds it would be after the year 5000. */
const MOST_EPOCH_S = 1e11;

/**
 * A time of the wire in RFC 3339, as it was sent; also one in seconds or milliseconds since 1970, as a number or in
 * digits. '' for anything else.
 */
export function timeFrom(value: unknown): string {
  const text = textFrom(value);
  if (typeof value !== 'number' && !/^\d{9,}$/.test(text)) return text;
  const epoch = Number(text);
  const ms = epoch < MOST_EPOCH_S ? epoch * 1000 : epoch;
  return epoch >= LEAST_EPOCH_S && ms < MOST_EPOCH_S * 1000 ? new Date(ms).toISOString() : '';
}
