import { type Location, useLocation } from 'react-router';

/**
 * The data that the signed-out screens pass to each other in navigation state, which keeps it out of the
 * address and out of storage.
 */
export interface SignInState {
  /** The page that the user opened first; sign-in returns to it. */
  from?: Location<unknown>;
  email?: string;
  /** A code was sent to it, to sign in or to reset the password: the step of the code is open. */
  isCodeSent?: boolean;
}

export function useSignInState(): SignInState {
  return (useLocation().state ?? {}) as SignInState;
}
