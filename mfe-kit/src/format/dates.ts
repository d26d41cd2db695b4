import { kitTexts } from '../language/kit-texts';
import { language } from '../language/language';
import { portalSettings } from '../slice/portal-settings';

/** A time as '12 Nov 2026', in the person's language and time zone; 'N/A' when it is missing or unreadable. */
export const formatDate = inTimeZone({ day: 'numeric', month: 'short', year: 'numeric' });

/** A time as 'Saturday, 14 November 2026'. */
export const formatLongDate = inTimeZone({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });

/** A time to the second, for the title of a shortened one. */
export const formatDateTime = inTimeZone({ dateStyle: 'medium', timeStyle: 'medium' });

/** A time as 'November 2026'. */
export const formatMonthAndYear = inTimeZone({ month: 'long', year: 'numeric' });

/** A time as '2026'. */
export const formatYear = inTimeZone({ year: 'numeric' });

/** A format in the language and the time zone that are in force. */
function inTimeZone(options: Intl.DateTimeFormatOptions): (time: string | Date | null | undefined) => string {
  let made: { format: Intl.DateTimeFormat; timeZone: string; locale: string } | undefined;
  return (given) => {
    const time = new Date(given ?? NaN);
    if (Number.isNaN(time.getTime())) return kitTexts().missing;
    const { timeZone } = portalSettings();
    const { locale } = language;
    if (made?.timeZone !== timeZone || made.locale !== locale)
      made = { format: new Intl.DateTimeFormat(locale, { ...options, timeZone }), timeZone, locale };
    return made.format.format(time);
  };
}
