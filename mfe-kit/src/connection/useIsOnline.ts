import { useSyncExternalStore } from 'react';
import { connection } from './connection';

/**
 * Whether the portal can be reached, redrawn when it changes. The shell says so on top of every
 * page; a screen holds back what must not get lost on the way, such as a payout.
 */
export function useIsOnline(): boolean {
  return useSyncExternalStore(connection.subscribe, () => connection.isOnline);
}
