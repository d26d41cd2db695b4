import { expect, test } from 'vitest';
import { formatDate, formatLongDate, formatMonthAndYear } from './dates';
import { formatMoney } from './money';
import { groupDigits, localPhone } from './phone';
import { relativeTime } from './relative-time';

test('REQ-001 money is whole KES with a plain space', () => {
  expect(formatMoney(25_000)).toBe('KES 25,000');
  expect(formatMoney(2_750_000)).toBe('KES 2,750,000');
  expect(formatMoney(0)).toBe('KES 0');
});

test('REQ-002 dates are written as in Kenya, in the deployment’s time zone', () => {
  expect(formatDate('2026-11-12T22:30:00.000Z')).toBe('13 Nov 2026');
  expect(formatLongDate('2026-11-14T09:00:00.000Z')).toBe('Saturday, 14 November 2026');
  expect(formatMonthAndYear('2026-11-14T09:00:00.000Z')).toBe('November 2026');
});

test('a date that is missing or unreadable is N/A', () => {
  expect(formatDate(null)).toBe('N/A');
  expect(formatDate('soon')).toBe('N/A');
});

test('REQ-003 a leading +254 becomes 0 and the last nine digits; other numbers stay', () => {
  expect(localPhone('+254712345678')).toBe('0712345678');
  expect(localPhone('0712345678')).toBe('0712345678');
  expect(localPhone('+15551234567')).toBe('+15551234567');
});

test('REQ-004 digits are grouped 4-4-rest', () => {
  expect(groupDigits('0712345678')).toBe('0712 3456 78');
  expect(groupDigits('28461937')).toBe('2846 1937');
  expect(groupDigits('071')).toBe('071');
});

test.for([
  [0, 'Just now'],
  [4.9, 'Just now'],
  [5, '5 seconds ago'],
  [60, '1 minute ago'],
  [59 * 60, '59 minutes ago'],
  [3600, '1 hour ago'],
  [86_399, '23 hours ago'],
  [86_400, 'Yesterday'],
  [2 * 86_400 - 1, 'Yesterday'],
  [2 * 86_400, '2 days ago'],
  [7 * 86_400 - 1, '6 days ago'],
  [7 * 86_400, '1 week ago'],
  [29 * 86_400, '4 weeks ago'],
  [30 * 86_400, '1 month ago'],
  [364 * 86_400, '12 months ago'],
  [365 * 86_400, '1 year ago'],
  [3 * 365 * 86_400, '3 years ago'],
] as const)('REQ-007..010 %d seconds ago reads %s', ([seconds, text]) => {
  const now = new Date('2026-11-14T12:00:00.000Z');
  expect(relativeTime(new Date(now.getTime() - seconds * 1000), now)).toBe(text);
});
