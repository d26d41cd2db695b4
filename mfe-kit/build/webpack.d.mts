import type { Configuration } from 'webpack';

/** The webpack configuration of a slice in `folder`, which exposes `./slice` from `src/slice.tsx`. */
export declare function sliceBuild(
  folder: string,
): (env: unknown, options: { mode: 'development' | 'production' }) => Configuration;

/** The webpack configuration of the shell in `folder`: the page, and everything that is shared. */
export declare function shellBuild(
  folder: string,
): (env: unknown, options: { mode: 'development' | 'production' }) => Configuration;
