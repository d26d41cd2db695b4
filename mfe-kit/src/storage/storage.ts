/** The browser's storage, which stays between visits. A browser that allows none, or has no room left, fails no call. */
export const storage = {
  /** `true` if the browser allows this page to store anything. */
  get isAllowed(): boolean {
    try {
      return typeof localStorage.length === 'number';
    } catch {
      return false;
    }
  },

  get(key: string): string | null {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },

  /** Returns whether the value is stored. */
  set(key: string, value: string): boolean {
    try {
      localStorage.setItem(key, value);
      return true;
    } catch {
      return false;
    }
  },

  remove(key: string): void {
    try {
      localStorage.removeItem(key);
    } catch {
      /* nothing was stored */
    }
  },
};
