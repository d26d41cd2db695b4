/** Milliseconds between two checks whether the portal can be reached again. */
const ASKED_EVERY_MS = 5000;

let isOnline = navigator.onLine;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/**
 * The connection to the portal. The browser's `offline` event counts at once. Only an answer from the portal
 * shows that it can be reached again: browsers report `online` for any network, and `offline` for a portal
 * on the same machine when the cable is unplugged.
 */
export const connection = {
  /** `true` if calls can be expected to reach the portal. */
  get isOnline(): boolean {
    return isOnline;
  },

  /** Follows the browser's events. Called once by the shell. */
  start(): void {
    window.addEventListener('offline', lose);
    window.addEventListener('online', () => void ask());
    if (!navigator.onLine) lose();
  },

  /** Calls back on every change; returns a function that unsubscribes. */
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

function lose() {
  change(false);
  void ask();
}

async function ask() {
  clearTimeout(timer);
  if (isOnline) return;
  if (await isAnswered()) change(true);
  else timer = setTimeout(() => void ask(), ASKED_EVERY_MS);
}

async function isAnswered() {
  try {
    const signal = AbortSignal.timeout(ASKED_EVERY_MS);
    return (await fetch('/slices.json', { method: 'HEAD', cache: 'no-store', signal })).ok;
  } catch {
    return false;
  }
}

function change(next: boolean) {
  if (next === isOnline) return;
  isOnline = next;
  for (const listener of listeners) listener();
}
