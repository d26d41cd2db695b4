import { catalogue } from 'mfe-kit';

const english = {
  loading: 'Loading',
  error: 'Error',
  retry: 'Retry',
  outdated: 'This could not be read again and may be out of date.',
  request: 'Request',
  copied: 'Copied',
  notCopied: 'Could not copy',
  toLight: 'Switch to light theme',
  toDark: 'Switch to dark theme',
  noOptions: 'No data',
  ok: 'OK',
  cancel: 'Cancel',
};

export type UiTexts = typeof english;

/** The texts of parts for every screen. */
export const uiTexts = catalogue(english, { sw: () => import('./ui-texts-sw') });
