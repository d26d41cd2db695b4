import type { Configuration } from 'webpack';

/** The webpack configuration of a slice in `folder`, which exposes `./slice` from `src/slice.tsx`. */
export declare function sliceBuild(
  folder: string,
): (env: unknown, options: { mode: 'development' | 'production' }) => Configuration;
