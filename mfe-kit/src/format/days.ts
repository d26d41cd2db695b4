import { portalSettings } from '../slice/portal-settings';

/** The midnight, in the deployment's time zone, at which the day of `time` began, or a day before it. */
export function startOfDay(time: Date, daysBefore = 0): Date {
  const day = new Date(wallClockAt(time.getTime()));
  return midnightOf(day.setUTCHours(-24 * daysBefore, 0, 0, 0));
}

/** The midnight at which a day such as '2026-11-14' begins, or a day after it; `null` if there is no such day. */
export function startOfDate(date: string, daysAfter = 0): Date | null {
  const day = new Date(/^[1-9]\d{3}-\d\d-\d\d$/.test(date) ? date : NaN);
  // Some days that do not exist overflow into another month.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return null;
  return midnightOf(day.setUTCHours(24 * daysAfter));
}

/** The time in the zone of what is midnight in UTC. */
function midnightOf(midnight: number): Date {
  // The zone's offset can differ between the two times, where clocks change on that day.
  const guess = midnight - offsetAt(midnight);
  return new Date(midnight - offsetAt(guess));
}

/** The offset of the zone's wall clocks from UTC at a time, in milliseconds; positive if they are ahead. */
function offsetAt(time: number): number {
  return wallClockAt(time) - Math.floor(time / 1000) * 1000;
}

/** The time at which clocks in UTC show what those of the zone show at a time; both in milliseconds. */
function wallClockAt(time: number): number {
  const { timeZone } = portalSettings();
  // Swedish writes '2026-11-14 12:30:00'.
  const shown = new Date(time).toLocaleString('sv-SE', { timeZone });
  return Date.parse(`${shown.replace(' ', 'T')}Z`);
}
