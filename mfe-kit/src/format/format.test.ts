import { setPortalSettings } from 'mfe-kit';
import { expect, test } from 'vitest';
import { formatDate, formatLongDate, formatMonthAndYear } from './dates';
import { startOfDay } from './days';
import { isolated } from './isolated';
import { formatMoney } from './money';
import { groupDigits, localPhone, sentPhone } from './phone';
import { relativeTime } from './relative-time';

test('REQ-001 money is whole KES with a plain space', () => {
  expect(formatMoney(25_000)).toBe('KES 25,000');
  expect(formatMoney(2_750_000)).toBe('KES 2,750,000');
  expect(formatMoney(0)).toBe('KES 0');
  expect(formatMoney(null)).toBe('N/A');
});

test('REQ-002 dates are written as in Kenya, in the deployment’s time zone', () => {
  expect(formatDate('2026-11-12T22:30:00.000Z')).toBe('13 Nov 2026');
  expect(formatLongDate('2026-11-14T09:00:00.000Z')).toBe('Saturday, 14 November 2026');
  expect(formatMonthAndYear('2026-11-14T09:00:00.000Z')).toBe('November 2026');
});

test.for([
  [
    'Africa/Nairobi',
    '2026-11-14T21:30:00Z',
    '15 Nov 2026',
    '2026-11-14T21:00:00.000Z',
    '2026-11-07T21:00:00.000Z',
  ],
  [
    'America/New_York',
    '2026-11-03T03:30:00Z',
    '2 Nov 2026',
    '2026-11-02T05:00:00.000Z',
    '2026-10-26T04:00:00.000Z',
  ],
  [
    'Asia/Kathmandu',
    '2026-11-14T18:00:00Z',
    '14 Nov 2026',
    '2026-11-13T18:15:00.000Z',
    '2026-11-06T18:15:00.000Z',
  ],
] as const)(
  'the day of a time is that of %s, not of the browser',
  ([time_zone, time, date, midnight, week]) => {
    setPortalSettings({ time_zone });
    expect(formatDate(time)).toBe(date);
    expect(startOfDay(new Date(time)).toISOString()).toBe(midnight);
    expect(startOfDay(new Date(time), 7).toISOString()).toBe(week);
  },
);

test.for([
  ['Atlantic/Azores', '2026-03-29T12:00:00Z', '2026-03-29T01:00:00.000Z'],
  ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00.000Z'],
  ['Pacific/Auckland', '2026-04-05T02:00:00Z', '2026-04-04T11:00:00.000Z'],
])('in %s, the day of %s begins at %s, also where clocks change at midnight', ([time_zone, time, start]) => {
  setPortalSettings({ time_zone });
  expect(startOfDay(new Date(time!)).toISOString()).toBe(start);
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

test.for([
  '+254 712 345 678',
  '+254-712-345-678',
  '+254\u00a0712\u202f345\u00a0678',
  '\u202a+254712345678\u202c',
  '+254 (0) 712 345 678',
  '254712345678',
  '0712 345 678',
  '712345678',
])('REQ-003 the phone %s has the one look of all its forms', (phone) => {
  expect(localPhone(phone)).toBe('0712345678');
});

test('a phone number is sent as it is, without characters that nobody sees', () => {
  expect(sentPhone('\u202a+254 712\u00a0345\u00a0678\u202c\u200e')).toBe('+254 712345678');
  expect(sentPhone('0712-345-678')).toBe('0712-345-678');
});

test('a name that is written from right to left, or sets a direction, keeps it to itself', () => {
  expect(isolated('Wanjikũ Ng’ang’a')).toBe('Wanjikũ Ng’ang’a');
  expect(isolated('فاطمة')).toBe('\u2068فاطمة\u2069');
  expect(isolated('\u202eWanjiku')).toBe('\u2068\u202eWanjiku\u2069');
  expect(isolated('\u2067Wan\u2069jiku')).toBe('\u2068Wanjiku\u2069');
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
