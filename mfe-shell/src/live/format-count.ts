import { language } from 'mfe-kit';

/** A number of things with its digits grouped: '1,000'. */
export function formatCount(count: number): string {
  return new Intl.NumberFormat(language.locale).format(count);
}
