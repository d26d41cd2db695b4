import type { PreferenceTexts } from './preference-texts';

const swahili: PreferenceTexts = {
  language: 'Lugha',
  languages: { en: 'English', sw: 'Kiswahili' },
  timeZone: 'Saa za eneo',
  portalTimeZone: (zone) => `Za mfumo (${zone})`,
  unknownTimeZone: 'Mfumo hautambui saa hizi za eneo. Chagua nyingine.',
  byEmail: 'Arifa kwa barua pepe',
  bySms: 'Arifa kwa SMS',
  notifications: 'Unaarifiwa malipo yako yanapokamilika au kushindikana baada ya ukurasa kujibu.',
};

export default swahili;
