import type { ReactNode } from 'react';
import { shellTexts } from '../shell-texts';
import { SliceFailure } from './load-slice';

/** The message of an error or, where that is for programmers, a sentence that says what to do. */
export function failureSentence(error: unknown): ReactNode {
  // What `fetch` throws without an answer; each browser has other words for it.
  if (error instanceof SliceFailure && error.cause instanceof TypeError) return shellTexts().notReached;
  if (isFileMissing(error)) return shellTexts().fileNotLoaded;
  // Messages of errors are in English.
  return <span lang="en">{error instanceof Error ? error.message : String(error)}</span>;
}

/** Returns whether a screen could not be drawn because a file of its slice did not come. */
export function isFileMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The message of the bundler's error has a number that looks like an HTTP status.
  return error.name === 'ChunkLoadError' || /^Loading (CSS )?chunk /.test(error.message);
}
