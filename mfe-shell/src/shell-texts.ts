import { catalogue } from 'mfe-kit';
import demoNotice from './notices/demo-notice.json';

const english = {
  // Layout
  skipToContent: 'Skip to content',
  menu: 'Menu',
  openMenu: 'Open menu',
  closeMenu: 'Close menu',
  navigation: 'Main',
  accountOf: (name: string) => `Account of ${name}`,
  profile: 'Profile',
  settings: 'Settings',
  logout: 'Logout',
  loading: 'Loading',

  // Notices and toasts
  demo: demoNotice,
  sandbox: (name: string) => demoNotice.replace('Demo', `Sandbox ${name}`),
  offline: 'You are offline. Payouts wait until you are back.',
  notLive: (slices: string) => `Not the live build: ${slices}`,
  newVersion: 'A new version is available',
  overrides: 'Overrides',
  dismiss: 'Dismiss',
  reload: 'Reload',

  // Failures
  notFound: 'Page Not Found',
  notFoundText: 'The page you are looking for could not be found.',
  backToDashboard: 'Back to Dashboard',
  portalNotLoaded: 'The portal could not be loaded',
  storageBlocked: 'Your browser blocks the storage of this page',
  allowStorage: (host: string) =>
    `The portal keeps your sign-in there. Allow cookies and site data for ${host} in the settings of the browser, then reload the page.`,
  sliceNotLoaded: 'This part of the portal could not be loaded',
  sliceStopped: 'This page has stopped working',
  sliceOverridden: 'This tab overrides the live build. End the override to load the live build again.',
  sliceAdvice:
    'Try again in a minute; the other parts still work. If it happens again, send the details to support.',
  retry: 'Retry',
  details: 'Details',
  copyDetails: 'Copy details',
  notReached: 'The portal could not be reached. Check your connection and try again.',
  fileNotLoaded: 'A file of this page could not be loaded. Check your connection and reload the page.',
};

export type ShellTexts = typeof english;

export const shellTexts = catalogue(english, { sw: () => import('./shell-texts-sw') });
