import type { AboutTexts } from './about-texts';

const swahili: AboutTexts = {
  about: 'Kuhusu',
  overrides: 'Matoleo mbadala',
  parts: 'Sehemu za ukurasa huu',
  part: 'Sehemu',
  version: 'Toleo',
  shell: (kit) => `Fremu, pamoja na mfe-kit ${kit}`,
  build: (build) => `toleo ${build}`,
  listNotRead: 'Orodha ya sehemu haikuweza kusomwa.',
  override: 'Toleo mbadala',
  notLoadedYet: 'Linatumika, bado halijapakiwa',
  notLoaded: (failure) => `Halikuweza kupakiwa: ${failure}`,
  previous: (version, failure) => `Toleo lililotangulia: ${version} halikuweza kupakiwa: ${failure}`,
  live: 'Linatumika',
};

export default swahili;
