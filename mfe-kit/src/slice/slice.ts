import type { RouteObject } from 'react-router';

/** What a slice's `./slice` module exports by default. */
export interface Slice {
  /** The package's name, as in `slices.json`. */
  name: string;
  /** The package's version, shown where the slice fails. */
  version: string;
  /**
   * The screens, by absolute path, each a `React.lazy` component so that a screen's code loads when
   * it is opened. The shell draws them inside its layout and behind its guard, unless the route's
   * `handle` is a `SliceRouteHandle` that says otherwise.
   */
  routes: RouteObject[];
}

/** What a slice's route may tell the shell. */
export interface SliceRouteHandle {
  /** `public`: open to visitors who are not signed in, and drawn without the layout. */
  access: 'public';
}
