import { catalogue } from 'mfe-kit';

const english = {
  language: 'Language',
  languages: { en: 'English', sw: 'Kiswahili' },
  timeZone: 'Timezone',
  portalTimeZone: (zone: string) => `The portal's (${zone})`,
  unknownTimeZone: 'The portal does not know this time zone. Choose another one.',
  byEmail: 'Email Notifications',
  bySms: 'SMS Notifications',
  notifications: 'You are notified when a payout of yours settles after its page has answered.',
};

export type PreferenceTexts = typeof english;

export const preferenceTexts = catalogue(english, { sw: () => import('./preference-texts-sw') });
