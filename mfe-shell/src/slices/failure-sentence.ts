import { shellTexts } from '../shell-texts';

/** The message of an error or, where that is for programmers, a sentence that says what to do. */
export function failureSentence(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  // The message of the bundler's error has a number that looks like an HTTP status.
  const isFileMissing = name === 'ChunkLoadError' || /^Loading (CSS )?chunk /.test(message);
  return isFileMissing ? shellTexts().fileNotLoaded : message;
}
