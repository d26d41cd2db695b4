/** A field of the wire as text, also a number; '' for anything else. Providers differ in the types that they send. */
export function textFrom(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** A field of the wire as a number, also one in a text; 0 for anything else. */
export function numberFrom(value: unknown): number {
  const number = Number(textFrom(value));
  return Number.isFinite(number) ? number : 0;
}
