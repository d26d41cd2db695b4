import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from '../api/client';
import { type Schema } from '../api/schema';
import { ApiError } from '../failures/api-error';
import { language } from '../language/language';
import { queryClient } from '../query/query-client';
import { queryKeys } from '../query/query-keys';
import { session } from '../session/session';
import type { SessionUser } from '../session/session-user';
import { isLive } from '../slice/portal-settings';

/**
 * The signed-in person's preferences and the deployment's rules for payouts, where the screens are live. The
 * data is `null` with a provider that keeps none; then nothing but the specified behaviour applies.
 */
export function preferencesQuery() {
  return queryOptions({
    queryKey: queryKeys.preferences,
    queryFn: async ({ signal }) => {
      const preferences = await orNull(dataOf(api.GET('/api/v1/preferences', { signal })));
      if (preferences) followPreferences(preferences);
      return preferences;
    },
    enabled: () => isLive() && session.token !== null,
    staleTime: Infinity,
  });
}

/**
 * The language and time zone of a new session's person, for `session.signIn`, with the language's texts loaded, so that no
 * screen changes after it was drawn. Nothing where the screens are specified, or the preferences can't be read.
 */
export async function preferencesOf(token: string): Promise<Pick<SessionUser, 'language' | 'timeZone'>> {
  if (!isLive()) return {};
  const headers = { Authorization: `Bearer ${token}` };
  try {
    const kept = await orNull(dataOf(api.GET('/api/v1/preferences', { headers })));
    queryClient.setQueryData(preferencesQuery().queryKey, kept);
    const spoken = kept?.language ?? 'en';
    await language.use(spoken);
    return { language: spoken, timeZone: kept?.time_zone ?? undefined };
  } catch {
    return {};
  }
}

/** Language and time zone apply at once, and are stored with the user for the next page load. */
export function followPreferences({ language, time_zone }: Schema<'Preferences'>): void {
  session.learn({ language, timeZone: time_zone ?? undefined });
}

/** The changes of a form that were made after `sent` was. */
export function changedSince<T extends object>(sent: T, changed: Partial<T>): Partial<T> {
  const isLater = ([key, value]: [string, unknown]) => value !== sent[key as keyof T];
  return Object.fromEntries(Object.entries(changed).filter(isLater)) as Partial<T>;
}

/** The data of an extension of the contract; `null` if the provider does not have it. */
export async function orNull<T>(data: Promise<T>): Promise<T | null> {
  try {
    return await data;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
