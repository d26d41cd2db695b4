import type { Schema } from 'mfe-kit';

/** The content of `slices.json`: the deployment's settings, and the live build of each slice. */
export type SliceList = Schema<'LiveSlices'>;

/** One build of a slice. */
export type SliceBuild = Omit<SliceList['slices'][string], 'previous' | 'screens' | 'menu' | 'failures'>;

export type MenuEntry = Schema<'MenuEntry'>;
