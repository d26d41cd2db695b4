import { now } from '../clock/clock';
import { kitTexts } from '../language/kit-texts';
import { language } from '../language/language';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A time relative to now: 'Just now', '12 minutes ago', 'Yesterday', … (REQ-007 to REQ-010). */
export function relativeTime(time: string | Date, current: Date = now()): string {
  const age = current.getTime() - new Date(time).getTime();
  const days = Math.floor(age / DAY);
  if (Number.isNaN(age)) return kitTexts().missing;
  if (age < 5 * SECOND) return kitTexts().justNow;
  if (age < MINUTE) return ago(age / SECOND, 'second');
  if (age < HOUR) return ago(age / MINUTE, 'minute');
  if (age < DAY) return ago(age / HOUR, 'hour');
  if (days === 1) return kitTexts().yesterday;
  if (days < 7) return ago(days, 'day');
  if (days < 30) return ago(days / 7, 'week');
  if (days < 365) return ago(days / 30, 'month');
  return ago(days / 365, 'year');
}

function ago(count: number, unit: Intl.RelativeTimeFormatUnit): string {
  const text = new Intl.RelativeTimeFormat(language.locale).format(-Math.floor(count), unit);
  // In Swahili the unit comes first, in lower case.
  return text.charAt(0).toUpperCase() + text.slice(1);
}
