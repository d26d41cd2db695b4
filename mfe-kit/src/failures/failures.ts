import { ApiError } from './api-error';
import { refusals } from './refusals';

/** The texts to show when one operation of the portal fails. */
export interface FailureTexts {
  /** The field of the body that is read first; the other one is read where it is missing. */
  reads: 'error' | 'message';
  /** Sentences that replace texts of the server, by the server's text in lower case. */
  replacements?: Readonly<Record<string, string>>;
  /** When the server failed without a text. */
  withoutText: string;
  /** When no answer came, or none that could be read; `withoutText` by default. */
  withoutAnswer?: string;
  /** When the failure is not one of a call. */
  otherwise: string;
}

/** The sentence to show for what was thrown, an `ApiError` or anything else, from a slice's texts. */
export function failureText(texts: FailureTexts, thrown: unknown): string {
  return failureMessage(texts, thrown).text;
}

/** As `failureText`, with the language where it is not that of the page: the server writes English. */
export function failureMessage(texts: FailureTexts, thrown: unknown): { text: string; lang?: 'en' } {
  const { reads, replacements, withoutText, withoutAnswer, otherwise } = texts;
  if (thrown instanceof ApiError && thrown.kind === 'server') {
    const { serverError, serverMessage } = thrown;
    const text = reads === 'error' ? (serverError ?? serverMessage) : (serverMessage ?? serverError);
    const known = (text && replaced(text, replacements)) || refusalOf(thrown);
    return text && !known ? { text, lang: 'en' } : { text: known || withoutText };
  }
  if (thrown instanceof ApiError) return { text: withoutAnswer ?? withoutText };
  // The text of any other error is for programmers.
  return { text: thrown instanceof Error ? (withoutAnswer ?? otherwise) : otherwise };
}

function refusalOf(failure: ApiError) {
  const { code = '' } = failure;
  const refusal = Object.hasOwn(refusals(), code) ? refusals()[code] : undefined;
  return typeof refusal === 'function' ? refusal(failure) : refusal;
}

function replaced(text: string, replacements: FailureTexts['replacements'] = {}) {
  return Object.entries(replacements).find(([original]) => original === text.toLowerCase())?.[1];
}
