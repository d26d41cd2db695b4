import type { RouteObject } from 'react-router';

/** What a slice's `./slice` module exports by default. */
export interface Slice {
  /** The package's name, as in `slices.json`. */
  name: string;
  /** The package's version, shown when the slice fails. */
  version: string;
  /**
   * The screens, by absolute path, each a `React.lazy` component so that a screen's code is loaded when
   * it is opened. The shell draws them in its layout and for signed-in users only, unless the route's
   * `handle` is a `SliceRouteHandle` with other access.
   */
  routes: RouteObject[];
}

/** The `handle` of a route, for the shell. */
export interface SliceRouteHandle {
  /** `public`: open to visitors who are not signed in, and drawn without the layout. */
  access: 'public';
}
