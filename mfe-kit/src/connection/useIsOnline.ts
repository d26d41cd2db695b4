import { useSyncExternalStore } from 'react';
import { connection } from './connection';

/**
 * Returns whether the portal can be reached; redraws on change. While it can't, the shell says so on top of
 * every page, and a screen disables actions that must not get lost, such as a payout.
 */
export function useIsOnline(): boolean {
  return useSyncExternalStore(connection.subscribe, () => connection.isOnline);
}
