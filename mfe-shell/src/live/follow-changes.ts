import type { Query } from '@tanstack/react-query';
import { ApiError, currentUserQuery, preferencesQuery, queryClient, queryKeys } from 'mfe-kit';
import type { Changed } from './event-stream';

/** The maximum delay before changed data is read again; random, so that open pages do not all ask at once. */
const SPREAD_MS = 400;

const OUTDATED: Record<Changed, (readonly string[])[]> = {
  loans: [
    queryKeys.pendingLoans,
    queryKeys.dashboard,
    queryKeys.transactions,
    queryKeys.reports,
    queryKeys.payout,
  ],
  notifications: [queryKeys.notifications],
  settings: [queryKeys.preferences, queryKeys.settings],
  session: [queryKeys.currentUser, queryKeys.profile, queryKeys.sessions],
};

let gathered = new Set<Changed>();

export function followChanges(changed: readonly Changed[]): void {
  if (gathered.size === 0 && changed.length > 0) setTimeout(() => void refresh(), Math.random() * SPREAD_MS);
  for (const what of changed) if (what in OUTDATED) gathered.add(what);
}

/** Reads the account again when its role does not allow what the page offered: it was changed. Returns how to stop. */
export function followRefusals(): () => void {
  const follow = (error: unknown) => {
    if (error instanceof ApiError && error.code === 'role_not_allowed') followChanges(['session']);
  };
  const stops = [
    queryClient.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error') follow(event.action.error);
    }),
    queryClient.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error') follow(event.action.error);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

async function refresh() {
  const changed = gathered;
  gathered = new Set();
  const keys = [...changed].flatMap((what) => OUTDATED[what].flat());
  const predicate = ({ queryKey: [key] }: Query) => keys.includes(key as string);
  // A first load goes on, and what it is answered may be from before the change.
  const firstLoads = queryClient
    .getQueryCache()
    .findAll({ predicate, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined);
  const isRead = queryClient.invalidateQueries({ predicate });
  // They apply to every page, also where none shows them.
  if (changed.has('settings')) void queryClient.query(preferencesQuery()).catch(() => undefined);
  if (changed.has('session')) void queryClient.query(currentUserQuery()).catch(() => undefined);
  await isRead;
  void queryClient.invalidateQueries({ predicate: (query) => firstLoads.includes(query) });
}
