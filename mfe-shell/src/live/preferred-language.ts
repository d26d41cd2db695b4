import { type Language, language, LANGUAGES, session } from 'mfe-kit';

/** The language that the signed-in person has chosen; without one, the browser's if the screens have it. */
export function preferredLanguage(): Language {
  const { user } = session.state;
  if (user) return user.language ?? language.current;
  for (const tag of navigator.languages) {
    const known = LANGUAGES.find((one) => one === tag.split('-')[0]);
    if (known) return known;
  }
  return 'en';
}
