import { useSyncExternalStore } from 'react';
import { session, type SessionState } from './session';

/** The session's state; redraws on change. */
export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, () => session.state);
}
