import { catalogue } from 'mfe-kit';

const english = {
  title: 'Settings',
  subtitle: 'Language, time zone and notifications are your own; everything else applies to everybody.',
  save: 'Save Changes',
  unsaved: 'There are changes that are not saved.',
  leave: 'Leave without saving?',
  leaveText: 'What you have changed here is lost.',
  stay: 'Stay',
  discard: 'Discard changes',
  saved: 'The settings are saved.',
  general: 'General Settings',
  disbursement: 'Disbursement Settings',
  sessionMinutes: 'Session Timeout (minutes)',
  sessionHint: (shortest: number, longest: number) =>
    `${shortest} to ${longest}, for sessions that open from now on.`,
  twoFactor: 'Two-Factor Authentication',
  twoFactorText: 'A code by e-mail when you sign in. It is turned on and off in your profile.',
  toProfile: 'Open Profile',
  maximum: 'Maximum Disbursement Amount',
  maximumHint: 'Payouts above it are refused. Empty for no maximum.',
  retries: 'Retry Attempts',
  retriesHint: '0 to 10.',
  confirmation: 'Require Confirmation',
  confirmationText: 'Ask before a payout is sent. Above the maximum amount it always asks.',
  autoRetry: 'Auto-retry Failed Disbursements',
  autoRetryText: 'Only after an outcome that is known not to have paid.',
  wrongMinutes: (shortest: number, longest: number) => `Enter a number from ${shortest} to ${longest}.`,
  wrongMaximum: 'Enter an amount from KES 1 to KES 9,007,199,254,740,991, or nothing.',
  wrongRetries: 'Enter a number from 0 to 10.',
  failed: 'The settings could not be loaded.',
  saveFailed: 'The settings could not be saved.',
  notSaved: 'Not saved',
  forAdmins: 'Settings are for admins',
  forAdminsText: 'Your language, time zone and notifications are in your profile.',
};

export type SettingsTexts = typeof english;

export const settingsTexts = catalogue(english, { sw: () => import('./settings-texts-sw') });
