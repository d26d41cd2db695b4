import { catalogue } from 'mfe-kit';

const english = {
  about: 'About',
  overrides: 'Overrides',
  parts: 'Parts of this page',
  part: 'Part',
  version: 'Version',
  shell: (kit: string) => `Shell, with mfe-kit ${kit}`,
  build: (build: string) => `build ${build}`,
  listNotRead: 'The list of slices could not be read.',
  override: 'Override',
  notLoadedYet: 'Live, not loaded yet',
  notLoaded: (failure: string) => `Could not be loaded: ${failure}`,
  previous: (version: string, failure: string) =>
    `Previous version: ${version} could not be loaded: ${failure}`,
  live: 'Live',
};

export type AboutTexts = typeof english;

export const aboutTexts = catalogue(english, { sw: () => import('./about-texts-sw') });
