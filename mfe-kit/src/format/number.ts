import { language } from '../language/language';

/** A number with its digits grouped in the person's language: '1,000'. */
export function formatNumber(number: number): string {
  return new Intl.NumberFormat(language.locale).format(number);
}
