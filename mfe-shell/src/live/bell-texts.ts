import { catalogue, formatNumber, plural } from 'mfe-kit';

const english = {
  heading: 'Notifications',
  unread: (count: number) => `Notifications, ${formatNumber(count)} unread`,
  arrived: (count: number) =>
    plural(count, { one: '1 unread notification', other: `${formatNumber(count)} unread notifications` }),
  unreadMark: 'Unread',
  failuresOnly: (count: number) => `Failures (${count})`,
  markAllRead: 'Mark all as read',
  notMarked: 'The notifications could not be marked as read.',
  loansApproved: (count: number) => `${formatNumber(count)} loans approved`,
  allReady: 'They are ready for disbursement.',
  empty: 'Nothing has happened in the last 7 days.',
  failed: 'The notifications could not be loaded.',
  retry: 'Retry',
  newVersion: 'A new version is available',
  newVersionText: 'Reload the page to use it.',
  reload: 'Reload',
  payout_completed: 'Payout completed',
  payout_failed: 'Payout failed',
  loan_approved: 'Loan approved',
  paid: (amount: string, customer: string) => `${amount} was paid to ${customer}.`,
  notPaid: (amount: string, customer: string) => `${amount} was not paid to ${customer}.`,
  ready: (amount: string, customer: string) => `${amount} for ${customer} is ready for disbursement.`,
};

export type BellTexts = typeof english;

export const bellTexts = catalogue(english, { sw: () => import('./bell-texts-sw') });
