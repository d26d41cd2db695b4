import { catalogue } from 'mfe-kit';

/**
 * The texts that the portal's own slices bring in `slices.json` (menu entries, titles of screens, advice for
 * failures), in other languages, by the English text. A text of another slice is shown as it is.
 */
const english: Readonly<Record<string, string>> = {};

const texts = catalogue(english, { sw: () => import('./brought-words-sw') });

/** A text that a slice brings, in the language of the screens where it is known. */
export function broughtText(text: string): string {
  return (Object.hasOwn(texts(), text) && texts()[text]) || text;
}
