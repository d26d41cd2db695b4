import { useSyncExternalStore } from 'react';
import { connection } from './connection';

const current = () => connection.isOnline;

/**
 * Whether the portal can be reached; redraws on change. The shell shows it on top of every page; a
 * screen disables actions that must not get lost, such as a payout.
 */
export function useIsOnline(): boolean {
  return useSyncExternalStore(connection.subscribe, current, current);
}
