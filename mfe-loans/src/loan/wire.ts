/** First and last name as one. */
export function fullName(first: string | null | undefined, last: string | null | undefined): string {
  return `${first ?? ''} ${last ?? ''}`.trim();
}

/** An amount that may be missing, or a decimal in a string, as some providers send it. */
export function numberFrom(value: number | string | null | undefined): number {
  const number = Number(value ?? 0);
  return Number.isNaN(number) ? 0 : number;
}
