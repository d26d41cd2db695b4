import { catalogue } from './language';

const english = {
  missing: 'N/A',
  justNow: 'Just now',
  yesterday: 'Yesterday',
  user: 'User',
  sessionExpired: 'Your session has expired. Please log in again.',
};

export type KitTexts = typeof english;

/** The texts of what is not drawn by itself: formats and the session. */
export const kitTexts = catalogue(english, { sw: () => import('./kit-texts-sw') });
