import { language } from '../language/language';

/** A number with its digits grouped in the person's language: '1,000'. */
export function formatNumber(number: number): string {
  return new Intl.NumberFormat(language.locale).format(number);
}

/** The whole number in a text, also one written as an amount: 'KES 100,000.00'; `NaN` if there is none. */
export function wholeNumberIn(text: string): number {
  const digits = text.replaceAll(/^\s*kes|[\s,]|\.0{0,2}\s*$/gi, '');
  return /^\d+$/.test(digits) ? Number(digits) : NaN;
}
