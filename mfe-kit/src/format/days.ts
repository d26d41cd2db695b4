import { portalSettings } from '../slice/portal-settings';

/** The midnight, in the deployment's time zone, at which the day of `time` began, or a day before it. */
export function startOfDay(time: Date, daysBefore = 0): Date {
  const { year, month, day } = partsOf(time.getTime());
  return midnightOf(Date.UTC(year, month - 1, day - daysBefore));
}

/** The midnight at which a day such as '2026-11-14' begins, or a day after it; `null` if there is no such day. */
export function startOfDate(date: string, daysAfter = 0): Date | null {
  const [, year, month, day] = /^([1-9]\d{3})-(\d\d)-(\d\d)$/.exec(date)?.map(Number) ?? [];
  if (!year || !month || !day) return null;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  // A month or a day that does not exist overflows into another month.
  if (midnight.getUTCMonth() !== month - 1) return null;
  return midnightOf(Date.UTC(year, month - 1, day + daysAfter));
}

/** The time in the zone of what is midnight in UTC. */
function midnightOf(midnight: number): Date {
  // The zone's offset can differ between the two times, where clocks change on that day.
  const guess = midnight - offsetAt(midnight);
  const start = midnight - offsetAt(guess);
  // A midnight that clocks skip west of UTC is an hour later.
  return new Date(Math.max(start, midnight - offsetAt(start)));
}

/** The offset of the zone's wall clocks from UTC at a time, in milliseconds; positive if they are ahead. */
function offsetAt(time: number): number {
  const { year, month, day, hour, minute, second } = partsOf(time);
  const wallClock = Date.UTC(year, month - 1, day, hour, minute, second);
  return wallClock - Math.floor(time / 1000) * 1000;
}

function partsOf(time: number) {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: portalSettings().timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(time);
  const numberOf = (type: Intl.DateTimeFormatPartTypes) =>
    Number(parts.find((part) => part.type === type)?.value);
  return {
    year: numberOf('year'),
    month: numberOf('month'),
    day: numberOf('day'),
    hour: numberOf('hour'),
    minute: numberOf('minute'),
    second: numberOf('second'),
  };
}
