import { language, preferencesQuery, queryClient, session } from 'mfe-kit';
import { followEvents } from './event-stream';
import { followChanges, followRefusals } from './follow-changes';
import { preferredLanguage } from './preferred-language';

/** Starts what a page does by itself where the screens are live: it follows the server and the person's preferences. */
export function startLive(): void {
  let token: string | null = null;
  const follow = () => {
    void language.use(preferredLanguage());
    const isAnother = session.token !== token;
    token = session.token;
    if (isAnother && token !== null) void queryClient.query(preferencesQuery()).catch(() => undefined);
  };
  session.subscribe(follow);
  followEvents(followChanges);
  followRefusals();
  follow();
}
