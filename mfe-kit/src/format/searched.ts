/** The apostrophes of names such as Ng'ang'a, which keyboards and phones write in many ways. */
const APOSTROPHES = /[`´‘’‛ʹʻʼʽˈ′＇]/g;

/**
 * A text as it is searched and sorted: in lower case, without accents and characters that nobody sees, with one
 * apostrophe and single blanks. Comparing these takes a tenth of the time of a collator.
 */
export function searched(text: string): string {
  const plain = /^[ -~]*$/.test(text) ? text : text.normalize('NFD').replaceAll(/[\p{M}\p{Cf}]/gu, '');
  return plain.toLowerCase().replaceAll(APOSTROPHES, "'").replaceAll(/\s+/g, ' ').trim();
}
