import { kitTexts } from '../language/kit-texts';
import { language } from '../language/language';
import { portalSettings } from '../slice/portal-settings';

const date = inTimeZone({ day: 'numeric', month: 'short', year: 'numeric' });
const longDate = inTimeZone({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const dateTime = inTimeZone({ dateStyle: 'medium', timeStyle: 'medium' });
const monthAndYear = inTimeZone({ month: 'long', year: 'numeric' });
const year = inTimeZone({ year: 'numeric' });

/** A time as '12 Nov 2026', in the person's language and time zone; 'N/A' when it is missing or unreadable. */
export function formatDate(time: string | Date | null | undefined): string {
  return formatWith(date, time);
}

/** A time as 'Saturday, 14 November 2026'. */
export function formatLongDate(time: string | Date): string {
  return formatWith(longDate, time);
}

/** A time to the second, for the title of a shortened one. */
export function formatDateTime(time: string | Date): string {
  return formatWith(dateTime, time);
}

/** A time as 'November 2026'. */
export function formatMonthAndYear(time: string | Date): string {
  return formatWith(monthAndYear, time);
}

/** A time as '2026'. */
export function formatYear(time: string | Date): string {
  return formatWith(year, time);
}

type Format = () => Intl.DateTimeFormat;

/** A format in the language and the time zone that are in force. */
function inTimeZone(options: Intl.DateTimeFormatOptions): Format {
  let made: { format: Intl.DateTimeFormat; timeZone: string; locale: string } | undefined;
  return () => {
    const { timeZone } = portalSettings();
    const { locale } = language;
    if (made?.timeZone !== timeZone || made.locale !== locale)
      made = { format: new Intl.DateTimeFormat(locale, { ...options, timeZone }), timeZone, locale };
    return made.format;
  };
}

function formatWith(format: Format, given: string | Date | null | undefined): string {
  if (given === null || given === undefined) return kitTexts().missing;
  const time = new Date(given);
  return Number.isNaN(time.getTime()) ? kitTexts().missing : format().format(time);
}
