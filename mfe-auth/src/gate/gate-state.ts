import { type Location, useLocation } from 'react-router';

/**
 * What the screens before sign-in hand on to each other in navigation state, so that it stands
 * neither in the address nor in storage.
 */
export interface GateState {
  /** The page that was wanted; sign-in leads back to it. */
  from?: Location<unknown>;
  /** The e-mail address typed so far. */
  email?: string;
}

export function useGateState(): GateState {
  return (useLocation().state ?? {}) as GateState;
}
