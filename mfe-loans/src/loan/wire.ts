import { textFrom } from 'mfe-kit';

/** First and last name as one. */
export function fullName(first: unknown, last: unknown): string {
  return `${textFrom(first)} ${textFrom(last)}`.trim();
}
