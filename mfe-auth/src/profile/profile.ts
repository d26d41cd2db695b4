import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, dataOf, failureText, type FailureTexts, orNull, queryKeys } from 'mfe-kit';
import type { FieldError } from '../fields/field-error';
import type { ProfileTexts } from './profile-texts';

/** The person as the provider keeps them; `null` with a provider that has no profiles. */
export function profileQuery() {
  return queryOptions({
    queryKey: queryKeys.profile,
    queryFn: ({ signal }) => orNull(dataOf(api.GET('/api/v1/profile', { signal }))),
  });
}

export function sessionsQuery() {
  return queryOptions({
    queryKey: queryKeys.sessions,
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/sessions', { signal })),
  });
}

export function failureOf(sentence: string, texts: ProfileTexts): FailureTexts {
  return {
    reads: 'message',
    replacements: {
      'invalid password': texts.wrongPassword,
      'another account has this phone number.': texts.phoneTaken,
      'sign-in codes are sent by e-mail, and this service sends none.': texts.codesNotSent,
    },
    withoutText: sentence,
    otherwise: sentence,
  };
}

export function isPasswordWrong(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'invalid_password';
}

/** The password of a refused change of the password, with the text to show there; `null` if it is about none. */
export function refusedPassword(error: unknown, texts: ProfileTexts): FieldError<'current' | 'next'> | null {
  if (!(error instanceof ApiError)) return null;
  if (isPasswordWrong(error)) return { field: 'current', text: texts.wrongPassword };
  if (error.code !== 'password_too_short' && error.code !== 'password_too_easy') return null;
  return { field: 'next', text: failureText(failureOf(texts.passwordFailed, texts), error) };
}

const PERSONAL_FIELDS = ['first_name', 'last_name', 'phone_number', 'current_password'] as const;

/** The field of a refused change of the profile, with the text to show there; `null` if it is about none. */
export function refusedField(
  error: unknown,
  texts: ProfileTexts,
): FieldError<(typeof PERSONAL_FIELDS)[number]> | null {
  if (!(error instanceof ApiError)) return null;
  if (isPasswordWrong(error)) return { field: 'current_password', text: texts.wrongPassword };
  const field = PERSONAL_FIELDS.find((name) => name === error.field);
  if (!field) return null;
  if (field === 'current_password') return { field, text: texts.enterPassword };
  // A text with the field's name in the contract is for programmers.
  if (error.serverText.includes(field))
    return { field, text: field === 'phone_number' ? texts.badPhone : texts.badName };
  return { field, text: failureText(failureOf(texts.saveFailed, texts), error) };
}
