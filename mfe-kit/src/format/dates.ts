const date = new Intl.DateTimeFormat('en-KE', { day: 'numeric', month: 'short', year: 'numeric' });
const longDate = new Intl.DateTimeFormat('en-KE', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});
const dateTime = new Intl.DateTimeFormat('en-KE', { dateStyle: 'medium', timeStyle: 'medium' });
const monthAndYear = new Intl.DateTimeFormat('en-KE', { month: 'long', year: 'numeric' });

/** A moment as '12 Nov 2026', in the browser's time zone; 'N/A' when it is missing or unreadable. */
export function formatDate(moment: string | Date | null | undefined): string {
  return formatWith(date, moment);
}

/** A moment as 'Saturday, 14 November 2026'. */
export function formatLongDate(moment: string | Date): string {
  return formatWith(longDate, moment);
}

/** A moment to the second, for the title of a shortened one. */
export function formatDateTime(moment: string | Date): string {
  return formatWith(dateTime, moment);
}

/** A moment as 'November 2026'. */
export function formatMonthAndYear(moment: string | Date): string {
  return formatWith(monthAndYear, moment);
}

function formatWith(format: Intl.DateTimeFormat, moment: string | Date | null | undefined): string {
  if (moment === null || moment === undefined) return 'N/A';
  const time = new Date(moment);
  return Number.isNaN(time.getTime()) ? 'N/A' : format.format(time);
}
