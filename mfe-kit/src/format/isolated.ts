/** Letters that are written from right to left, and characters that set the direction of what follows. */
const DIRECTED =
  /[\p{Bidi_Control}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A name for a sentence. One that could turn the sentence round keeps its direction to itself. */
export function isolated(name: string): string {
  // An isolate that ends in the name would end this one.
  return DIRECTED.test(name) ? `\u2068${name.replaceAll(/[\u2066-\u2069]/g, '')}\u2069` : name;
}
