/**
 * The first part of the keys of queries that more than one slice reads or invalidates. A slice adds parts of
 * its own behind it: `[...queryKeys.pendingLoans, 'sample']`. A payout invalidates pending loans,
 * dashboard and transactions.
 */
export const queryKeys = {
  pendingLoans: ['pending-loans'],
  dashboard: ['dashboard'],
  transactions: ['transactions'],
  currentUser: ['current-user'],
  /** Of one loan, while its payout settles. */
  payout: ['payout'],
  reports: ['reports'],
  notifications: ['notifications'],
  preferences: ['preferences'],
  settings: ['settings'],
  profile: ['profile'],
  sessions: ['sessions'],
} as const;
