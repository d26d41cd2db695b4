import { language, preferencesQuery, queryClient, session } from 'mfe-kit';
import { followEvents } from './event-stream';
import { followChanges } from './follow-changes';
import { preferredLanguage } from './preferred-language';

/**
 * Starts what a page does by itself where the screens are live: it follows the server's events and the
 * person's preferences. Resolves when the texts of the preferred language are loaded.
 */
export function startLive(): Promise<void> {
  let token: string | null = null;
  const follow = () => {
    const isAnother = session.token !== token;
    token = session.token;
    if (isAnother && token !== null) void queryClient.query(preferencesQuery()).catch(() => undefined);
    return language.use(preferredLanguage());
  };
  session.subscribe(() => void follow());
  followEvents(followChanges);
  return follow();
}
