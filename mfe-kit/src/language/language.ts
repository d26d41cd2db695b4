/** The languages of the screens. */
export const LANGUAGES = ['en', 'sw'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Numbers and dates are those of Kenya in every language. */
const LOCALES: Record<Language, string> = { en: 'en-KE', sw: 'sw-KE' };

type Load = (wanted: Language) => Promise<void>;

let current: Language = 'en';
let wanted: Language = 'en';
const loads = new Set<Load>();
const listeners = new Set<() => void>();

/** The language of the screens; English until another one is loaded. */
export const language = {
  get current(): Language {
    return current;
  },

  /** The tag of the language in Kenya, for `Intl`. */
  get locale(): string {
    return LOCALES[current];
  },

  /**
   * Loads the texts of what is on the page, then changes the language. The shell draws the page again, with all that is
   * typed on it.
   */
  async use(next: Language): Promise<void> {
    wanted = next;
    await Promise.all([...loads].map((load) => load(next)));
    if (wanted !== next || current === next) return;
    current = next;
    document.documentElement.lang = next;
    for (const listener of listeners) listener();
  },

  /** Calls back on every change of `current`; returns a function that unsubscribes. */
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/**
 * The texts of a screen: its English ones, and how the other languages are loaded. Returns a function that
 * gives the texts in the current language. While a screen is drawn whose texts are still being loaded, React
 * waits for them. Texts that can't be loaded are English.
 */
export function catalogue<Texts>(
  english: Texts,
  others: Record<Exclude<Language, 'en'>, () => Promise<{ default: Texts }>>,
): () => Texts {
  const read = new Map<Language, Texts>([['en', english]]);
  const reading = new Map<Language, Promise<void>>();

  async function load(next: Language): Promise<void> {
    if (next === 'en' || read.has(next)) return;
    const before = reading.get(next);
    if (before) return before;
    const loading = others[next]().then(
      (texts) => void read.set(next, texts.default),
      (error: unknown) => {
        console.error('The texts could not be loaded', error);
        read.set(next, english);
      },
    );
    reading.set(next, loading);
    return loading;
  }

  loads.add(load);
  // A slice that is loaded later has its texts when its first screen is drawn.
  if (wanted !== 'en') void load(wanted);
  return () => {
    const texts = read.get(current);
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- React waits for a thrown promise
    if (texts === undefined) throw load(current);
    return texts;
  };
}

/** The form of a text that goes with a number, such as `{ one: 'loan', other: 'loans' }`. */
export function plural(count: number, forms: { one: string; other: string }): string {
  return new Intl.PluralRules(LOCALES[current]).select(count) === 'one' ? forms.one : forms.other;
}
