let isThere = false;
const listeners = new Set<() => void>();

/** Whether something newer than what this page has loaded is live. */
export const newVersion = {
  get: () => isThere,
  set(is: boolean) {
    if (is === isThere) return;
    isThere = is;
    for (const listener of listeners) listener();
  },
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
