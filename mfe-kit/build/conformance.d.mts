import type { Slice } from 'mfe-kit';

/** Declares the tests that every slice has to pass to be loaded by the portal; `sources` is the folder of its `slice.tsx`. */
export declare function checkSlice(slice: Slice, sources: string): void;

/**
 * Declares a test for each catalogue (`…-texts.ts`, with `…-texts-sw.ts` beside it) in a folder: every text is there in
 * every language, with the same placeholders and with plural forms. `checkSlice` does it, too.
 */
export declare function checkCatalogues(sources: string): void;
