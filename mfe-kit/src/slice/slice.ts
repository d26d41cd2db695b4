import type { RouteObject } from 'react-router';

/** The default export of a slice's `./slice` module. */
export interface Slice {
  /** The package's name, as in `slices.json`. */
  name: string;
  /** The package's version, shown when the slice fails. */
  version: string;
  /**
   * The screens, by absolute path, each with a `React.lazy` component as its `Component` so that a screen's code is loaded
   * when it is opened. `slice.screens` of package.json lists them for the shell, which draws them in its layout
   * and for signed-in users only, unless they are `public`.
   */
  routes: RouteObject[];
}
