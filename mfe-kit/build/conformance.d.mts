import type { Slice } from 'mfe-kit';

/** Declares the tests that every slice has to pass to be loaded by the portal; `sources` is the folder of its `slice.tsx`. */
export declare function checkSlice(slice: Slice, sources: string): void;
