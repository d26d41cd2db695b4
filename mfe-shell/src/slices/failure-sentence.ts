import { shellTexts } from '../shell-texts';
import { SliceFailure } from './load-slice';

/** The message of an error or, where that is for programmers, a sentence that says what to do. */
export function failureSentence(error: unknown): string {
  // What `fetch` throws without an answer; each browser has other words for it.
  if (error instanceof SliceFailure && error.cause instanceof TypeError) return shellTexts().notReached;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  // The message of the bundler's error has a number that looks like an HTTP status.
  const isFileMissing = name === 'ChunkLoadError' || /^Loading (CSS )?chunk /.test(message);
  return isFileMissing ? shellTexts().fileNotLoaded : message;
}
