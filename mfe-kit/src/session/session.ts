import { kitTexts } from '../language/kit-texts';
import type { Language } from '../language/language';
import { notify } from '../notify/notify';
import { queryClient } from '../query/query-client';
import { isLive, setPersonalTimeZone } from '../slice/portal-settings';
import { storage } from '../storage/storage';
import { parseUser, roleFrom, signedInUser, type SessionUser } from './session-user';

/**
 * Who is signed in. A session that the provider ended is `ending` while the page says so, and `ended`
 * when the browser has to go to sign-in. `hasLeft` distinguishes a user who signed out from a visitor who
 * has not signed in yet: the next user does not return to the page of the last one.
 */
export type SessionState =
  | { status: 'loading'; user: null }
  | { status: 'signed-in'; user: SessionUser }
  | { status: 'signed-out'; user: null; expiry?: 'ending' | 'ended'; hasLeft?: boolean };

/** The answer to a sign-in, as far as it is used. */
interface SignedIn {
  token: string;
  username: string;
  email: string;
  name?: string | undefined;
  role?: string | undefined;
  /** The person's preferences. */
  language?: Language | undefined;
  timeZone?: string | undefined;
}

const TOKEN_KEY = 'auth_token';
const USER_KEY = 'user';

/** Milliseconds between a session's end and the redirect to sign-in. */
const REDIRECT_DELAY_MS = 1000;
const EXPIRED_TOAST_MS = 2000;

const EXPIRED_TOAST_KEY = 'session-expired';

let state: SessionState = { status: 'loading', user: null };
let expiry: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** The browser's session, stored under `auth_token` and `user` and shared by all tabs. */
export const session = {
  /** The stored token; `null` without one. */
  get token(): string | null {
    return storage.get(TOKEN_KEY);
  },

  /** The current state; a new object on each change. */
  get state(): SessionState {
    return state;
  },

  /** Reads the stored session, and follows changes in other tabs. Called once by the shell. */
  start(): void {
    read();
    window.addEventListener('storage', ({ key }) => {
      if (key === null || key === TOKEN_KEY || key === USER_KEY) read();
    });
    // A page that Back shows as it was left was told of nothing meanwhile.
    window.addEventListener('pageshow', read);
  },

  /**
   * Stores the answer to a sign-in. Where the screens are live, role, name and preferences are the server's. Throws, and
   * leaves no session behind, if the browser does not store it.
   */
  signIn({ token, username, email, name, role, language, timeZone }: SignedIn): void {
    stopExpiry();
    const specified = signedInUser(username, email);
    const user = isLive()
      ? { ...specified, name, role: roleFrom(role) ?? specified.role, language, timeZone }
      : specified;
    if (!storage.set(TOKEN_KEY, token) || !storage.set(USER_KEY, JSON.stringify(user))) {
      session.clear();
      throw new Error('The browser did not store the session');
    }
    change({ status: 'signed-in', user });
  },

  /** Stores what the provider says about the signed-in user, where the screens are live. */
  learn(facts: Partial<Pick<SessionUser, 'name' | 'role' | 'language' | 'timeZone'>>): void {
    if (!isLive() || state.status !== 'signed-in') return;
    const before = JSON.stringify(state.user);
    const user = { ...state.user, ...facts };
    const stored = JSON.stringify(user);
    if (stored === before) return;
    storage.set(USER_KEY, stored);
    change({ status: 'signed-in', user });
  },

  /** Removes token, user and all data that was read for them. */
  clear(): void {
    stopExpiry();
    forget();
    change({ status: 'signed-out', user: null, hasLeft: hasLeft() });
  },

  /**
   * Ends the session because the provider no longer knows it: shows a message, and a second later has
   * the shell redirect to sign-in. It happens once, however many calls fail at the same time (REQ-068).
   */
  expire(): void {
    if (expiry !== undefined) return;
    expiry = setTimeout(() => {
      expiry = undefined;
      change({ status: 'signed-out', user: null, expiry: 'ended' });
    }, REDIRECT_DELAY_MS);
    forget();
    change({ status: 'signed-out', user: null, expiry: 'ending' });
    notify({
      type: 'error',
      message: kitTexts().sessionExpired,
      duration: EXPIRED_TOAST_MS,
      key: EXPIRED_TOAST_KEY,
    });
  },

  /** Calls back on every change of `state`; returns a function that unsubscribes. */
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },

  /** Called by the shell when the browser has arrived at sign-in. */
  expiryShown(): void {
    if (state.status === 'signed-out' && state.expiry === 'ended')
      change({ status: 'signed-out', user: null });
  },

  /** The key of the toast about the ended session; sign-in replaces that toast with its own. */
  expiredToastKey: EXPIRED_TOAST_KEY,
};

function read() {
  const user = parseUser(storage.get(USER_KEY));
  if (user) {
    stopExpiry();
    // Data that was read for one user must not be shown to another.
    if (state.status === 'signed-in' && state.user.email !== user.email) void queryClient.resetQueries();
    change({ status: 'signed-in', user });
  } else if (expiry === undefined) {
    if (state.status === 'signed-in') queryClient.clear();
    change({ status: 'signed-out', user: null, hasLeft: hasLeft() });
  }
}

function hasLeft() {
  return state.status === 'signed-in' || (state.status === 'signed-out' && state.hasLeft === true);
}

function stopExpiry() {
  clearTimeout(expiry);
  expiry = undefined;
}

function forget() {
  storage.remove(TOKEN_KEY);
  storage.remove(USER_KEY);
  queryClient.clear();
}

function change(next: SessionState) {
  state = next;
  setPersonalTimeZone(next.user?.timeZone);
  for (const listener of listeners) listener();
}
