/**
 * The tab's storage, which a reload keeps; its values are JSON. A browser that allows none, or has no room left,
 * fails no call.
 */
export const tabStorage = {
  /** The value of a key; `null` without one that can be read. */
  read(key: string): unknown {
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? 'null');
    } catch {
      return null;
    }
  },

  /** Stores a value, or removes that of the key for `null`; returns whether it is so. */
  write(key: string, value: unknown): boolean {
    try {
      if (value === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};
