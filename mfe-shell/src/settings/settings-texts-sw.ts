import type { SettingsTexts } from './settings-texts';

const swahili: SettingsTexts = {
  title: 'Mipangilio',
  subtitle: 'Lugha, saa za eneo na arifa ni zako mwenyewe; mengine yote yanahusu kila mtu.',
  save: 'Hifadhi mabadiliko',
  unsaved: 'Kuna mabadiliko ambayo hayajahifadhiwa.',
  leave: 'Uondoke bila kuhifadhi?',
  leaveText: 'Ulichobadilisha hapa kitapotea.',
  stay: 'Baki',
  discard: 'Tupa mabadiliko',
  saved: 'Mipangilio imehifadhiwa.',
  general: 'Mipangilio ya jumla',
  disbursement: 'Mipangilio ya utoaji wa mikopo',
  sessionMinutes: 'Muda wa kipindi (dakika)',
  sessionHint: (shortest, longest) =>
    `${shortest} hadi ${longest}, kwa vipindi vitakavyofunguliwa kuanzia sasa.`,
  twoFactor: 'Uthibitishaji wa hatua mbili',
  twoFactorText: 'Msimbo kwa barua pepe unapoingia. Unawashwa na kuzimwa katika wasifu wako.',
  toProfile: 'Fungua wasifu',
  maximum: 'Kiwango cha juu cha malipo',
  maximumHint: 'Malipo yanayozidi kiwango hiki hukataliwa. Acha wazi kama hakuna kikomo.',
  retries: 'Idadi ya kujaribu tena',
  retriesHint: '0 hadi 10.',
  confirmation: 'Omba uthibitisho',
  confirmationText: 'Uliza kabla malipo hayajatumwa. Yakizidi kiwango cha juu, huuliza kila mara.',
  autoRetry: 'Jaribu tena malipo yaliyoshindikana',
  autoRetryText: 'Ni pale tu inapojulikana kwamba hakuna kilicholipwa.',
  wrongMinutes: (shortest, longest) => `Weka nambari kuanzia ${shortest} hadi ${longest}.`,
  wrongMaximum: 'Weka kiasi kati ya KES 1 na KES 9,007,199,254,740,991, au acha wazi.',
  wrongRetries: 'Weka nambari kuanzia 0 hadi 10.',
  failed: 'Mipangilio haikuweza kupakiwa.',
  saveFailed: 'Mipangilio haikuweza kuhifadhiwa.',
  notSaved: 'Haijahifadhiwa',
  forAdmins: 'Mipangilio ni ya wasimamizi',
  forAdminsText: 'Lugha, saa za eneo na arifa zako ziko katika wasifu wako.',
};

export default swahili;
