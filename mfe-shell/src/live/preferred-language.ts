import { type Language, session } from 'mfe-kit';

/** The language of the signed-in person, else the browser's if the screens have it. */
export function preferredLanguage(): Language {
  return session.state.user?.language ?? (navigator.language.startsWith('sw') ? 'sw' : 'en');
}
