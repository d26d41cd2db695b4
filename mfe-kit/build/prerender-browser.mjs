/** What modules read of a browser when they are loaded, and the kit when it draws; in the worker of `prerender.mjs`. */
export const stored = {};

/** The current year, which becomes a placeholder. */
export const YEAR = '9998';

Date.now = () => Date.UTC(Number(YEAR), 6);

globalThis.localStorage = { getItem: (key) => stored[key] ?? null };
globalThis.window = {
  localStorage,
  location: { pathname: '/', search: '', hash: '' },
  addEventListener() {},
  matchMedia: () => ({ matches: false, addEventListener() {}, removeEventListener() {} }),
};
Object.defineProperty(globalThis, 'navigator', { value: { onLine: true, languages: ['en'] } });
