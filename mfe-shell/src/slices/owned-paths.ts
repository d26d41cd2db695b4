interface OwnedPath {
  path: string;
  slice: string;
  access?: 'public';
}

/**
 * Which slice an address belongs to, known before any slice is loaded: so one page loads one slice,
 * the guard can answer at once, and a slice that is down can be named in its place. A path that is
 * not here still works: the shell then asks every slice.
 */
export const OWNED_PATHS: readonly OwnedPath[] = [
  { path: '/login', slice: 'mfe-auth', access: 'public' },
  { path: '/password-reset', slice: 'mfe-auth', access: 'public' },
  { path: '/profile', slice: 'mfe-auth' },
  { path: '/', slice: 'mfe-loans' },
  { path: '/pending-loans', slice: 'mfe-loans' },
  { path: '/loans/:id', slice: 'mfe-loans' },
  { path: '/transactions', slice: 'mfe-transactions' },
  { path: '/reports', slice: 'mfe-transactions' },
];
