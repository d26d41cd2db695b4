import { failureText } from 'mfe-kit';
import { expect, test } from 'vitest';
import { failures } from './failures';

test('a failure that is not one of a call reads as the page could not be loaded', () => {
  const error = new TypeError('x is undefined');
  expect(failureText(failures().transactions, error)).toBe('Failed to load transactions');
});
