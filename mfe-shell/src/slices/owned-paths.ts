import paths from './owned-paths.json';

interface OwnedPath {
  path: string;
  slice: string;
  access?: 'public';
}

/**
 * Which slice an address belongs to, known before any slice is loaded: so one page loads one slice,
 * the guard can answer at once, and a slice that is down can be named in its place. A path that is
 * not here still works: the shell then asks every slice. The page itself reads the same list, to
 * ask for the slice before the shell's code is there.
 */
export const OWNED_PATHS = paths as readonly OwnedPath[];
