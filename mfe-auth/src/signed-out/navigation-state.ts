import { useLayoutEffect, useRef } from 'react';
import { type Location, useLocation, useNavigate } from 'react-router';

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

/**
 * Whether the step of the code is open, and how to open and close it. In navigation state, as a phone may load the page
 * again when its user comes back with the code.
 */
export function useCodeStep(email: string) {
  const { from, isCodeSent = false } = useSignInState();
  const navigate = useNavigate();
  const isShown = useRef(false);
  useLayoutEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);

  function setCodeSent(isCodeSent: boolean) {
    // A code that is sent after its page was left opens no step of another page.
    if (isShown.current) void navigate('.', { replace: true, state: { from, email, isCodeSent } });
  }

  return [isCodeSent, setCodeSent] as const;
}
