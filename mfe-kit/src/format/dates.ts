import { portalSettings } from '../slice/portal-settings';

const date = inTimeZone({ day: 'numeric', month: 'short', year: 'numeric' });
const longDate = inTimeZone({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const dateTime = inTimeZone({ dateStyle: 'medium', timeStyle: 'medium' });
const monthAndYear = inTimeZone({ month: 'long', year: 'numeric' });
const year = inTimeZone({ year: 'numeric' });

/** A time as '12 Nov 2026', in the deployment's time zone; 'N/A' when it is missing or unreadable. */
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

/** A format in the deployment's time zone, which is known once `slices.json` is read. */
function inTimeZone(options: Intl.DateTimeFormatOptions): Format {
  let made: { format: Intl.DateTimeFormat; timeZone: string } | undefined;
  return () => {
    const { timeZone } = portalSettings();
    if (made?.timeZone !== timeZone)
      made = { format: new Intl.DateTimeFormat('en-KE', { ...options, timeZone }), timeZone };
    return made.format;
  };
}

function formatWith(format: Format, given: string | Date | null | undefined): string {
  if (given === null || given === undefined) return 'N/A';
  const time = new Date(given);
  return Number.isNaN(time.getTime()) ? 'N/A' : format().format(time);
}
