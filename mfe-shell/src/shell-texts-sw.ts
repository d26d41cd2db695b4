import type { ShellTexts } from './shell-texts';

const swahili: ShellTexts = {
  skipToContent: 'Ruka hadi maudhui',
  menu: 'Menyu',
  openMenu: 'Fungua menyu',
  closeMenu: 'Funga menyu',
  navigation: 'Kuu',
  accountOf: (name) => `Akaunti ya ${name}`,
  profile: 'Wasifu',
  settings: 'Mipangilio',
  logout: 'Ondoka',
  loading: 'Inapakia',

  demo: 'Onyesho: data ya kubuni, hakuna pesa halisi.',
  sandbox: (name) => `Sandbox ${name}: data ya kubuni, hakuna pesa halisi.`,
  offline: 'Huna mtandao. Malipo yatasubiri hadi utakaporudi mtandaoni.',
  notLive: (slices) => `Si toleo linalotumika: ${slices}`,
  newVersion: 'Toleo jipya linapatikana',
  overrides: 'Matoleo mbadala',
  dismiss: 'Ondoa',
  reload: 'Pakia upya',

  notFound: 'Ukurasa haukupatikana',
  notFoundText: 'Ukurasa unaoutafuta haukupatikana.',
  backToDashboard: 'Rudi kwenye dashibodi',
  portalNotLoaded: 'Tovuti haikuweza kupakiwa',
  storageBlocked: 'Kivinjari chako kinazuia hifadhi ya ukurasa huu',
  allowStorage: (host) =>
    `Tovuti huhifadhi kuingia kwako humo. Ruhusu vidakuzi na data ya tovuti kwa ${host} katika mipangilio ya kivinjari, kisha pakia ukurasa upya.`,
  sliceNotLoaded: 'Sehemu hii ya tovuti haikuweza kupakiwa',
  sliceStopped: 'Ukurasa huu umeacha kufanya kazi',
  sliceOverridden:
    'Kichupo hiki kinatumia toleo mbadala. Maliza toleo mbadala ili kupakia toleo linalotumika.',
  sliceAdvice:
    'Jaribu tena baada ya dakika moja; sehemu nyingine bado zinafanya kazi. Ikitokea tena, tuma maelezo kwa msaada.',
  retry: 'Jaribu tena',
  details: 'Maelezo',
  copyDetails: 'Nakili maelezo',
  notReached: 'Tovuti haikuweza kufikiwa. Angalia mtandao wako kisha ujaribu tena.',
  fileNotLoaded: 'Faili ya ukurasa huu haikuweza kupakiwa. Angalia mtandao wako kisha upakie ukurasa upya.',
};

export default swahili;
