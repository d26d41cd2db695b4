import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, dataOf, type FailureTexts, orNull, queryKeys } from 'mfe-kit';
import type { ProfileTexts } from './profile-texts';

/** The person as the provider keeps them; `null` with a provider that has no profiles. */
export function profileQuery() {
  return queryOptions({
    queryKey: queryKeys.profile,
    queryFn: ({ signal }) => orNull(dataOf(api.GET('/api/v1/profile', { signal }))),
  });
}

/** Where the person is signed in, newest first. */
export function sessionsQuery() {
  return queryOptions({
    queryKey: queryKeys.sessions,
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/sessions', { signal })),
  });
}

/** The texts of a failure, with one of its own for a wrong password. */
export function failureOf(sentence: string, { wrongPassword }: ProfileTexts): FailureTexts {
  return {
    reads: 'message',
    replacements: { 'invalid password': wrongPassword },
    withoutText: sentence,
    otherwise: sentence,
  };
}

/** Whether the provider refused the password that was typed. */
export function isPasswordWrong(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400;
}
