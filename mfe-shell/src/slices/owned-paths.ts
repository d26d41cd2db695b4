import paths from './owned-paths.json';

interface OwnedPath {
  path: string;
  slice: string;
  access?: 'public';
}

/**
 * Which slice owns which path, known before any slice is loaded: so a page loads one slice only, the
 * guard can decide at once, and a slice that is down can be named. A path that is not listed still works:
 * the shell then searches every slice. An inline script of the page uses the same list to request the
 * slice before the shell's code is loaded.
 */
export const OWNED_PATHS = paths as readonly OwnedPath[];
