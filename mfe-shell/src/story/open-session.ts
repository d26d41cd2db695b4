import { api, dataOf, preferencesOf, queryClient, type Schema, session } from 'mfe-kit';
import { tabStorage } from '../tab-storage';
import { storyQuery } from './story-query';

/** The key in the tab's storage of the code that was entered with last: on a shared device it goes with the tab. */
export const ENTRY_CODE = 'entry_code';

/** Signs in with the code of an address. A failure leaves an earlier session as it was. */
export async function enterSandbox(code: string): Promise<void> {
  await openSession(api.POST('/story/enter', { body: { code } }));
  tabStorage.write(ENTRY_CODE, code);
}

/** Begins the story again, which ends all sessions of the sandbox, and signs in again. */
export async function beginAgain(): Promise<void> {
  // A poll by a session that ends would have the page go to sign-in.
  await queryClient.cancelQueries({ queryKey: storyQuery().queryKey });
  return openSession(api.POST('/story/again'));
}

async function openSession(answer: Promise<{ data?: Schema<'SignedIn'> }>): Promise<void> {
  const { token, username, email, name, role } = (await dataOf(answer)).user;
  const preferences = await preferencesOf(token);
  session.signIn({ token, username, email, name, role, ...preferences });
  // Only now: what is on the screen is read again at once, by the new session. The card keeps its story until it polls.
  const [story] = storyQuery().queryKey;
  void queryClient.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== story });
}
