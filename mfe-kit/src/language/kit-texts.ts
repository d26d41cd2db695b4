import { catalogue, plural } from './language';

const english = {
  missing: 'N/A',
  justNow: 'Just now',
  yesterday: 'Yesterday',
  ago: {
    second: (count: number) => `${count} ${plural(count, { one: 'second', other: 'seconds' })} ago`,
    minute: (count: number) => `${count} ${plural(count, { one: 'minute', other: 'minutes' })} ago`,
    hour: (count: number) => `${count} ${plural(count, { one: 'hour', other: 'hours' })} ago`,
    day: (count: number) => `${count} ${plural(count, { one: 'day', other: 'days' })} ago`,
    week: (count: number) => `${count} ${plural(count, { one: 'week', other: 'weeks' })} ago`,
    month: (count: number) => `${count} ${plural(count, { one: 'month', other: 'months' })} ago`,
    year: (count: number) => `${count} ${plural(count, { one: 'year', other: 'years' })} ago`,
  },
  user: 'User',
  sessionExpired: 'Your session has expired. Please log in again.',
};

export type KitTexts = typeof english;

/** The texts of what is not drawn by itself: formats and the session. */
export const kitTexts = catalogue(english, { sw: () => import('./kit-texts-sw') });
