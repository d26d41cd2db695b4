import {
  api,
  ApiError,
  currentUserQuery,
  dataOf,
  endSession,
  preferencesOf,
  queryClient,
  type Schema,
  session,
  textFrom,
} from 'mfe-kit';
import type { FieldError } from '../fields/field-error';
import { signInTexts } from '../sign-in-texts';

export interface Credentials {
  email: string;
  password: string;
}

/** Signs in by password; a failure clears the session (REQ-062). */
export function signInByPassword({ email, password }: Credentials): Promise<void> {
  return openSession(api.POST('/api/v1/auth/login', { body: { email, password } }));
}

/** Signs in by password and code; a failure clears the session (REQ-122). */
export function signInByCode({ email, password }: Credentials, otp: string): Promise<void> {
  return openSession(api.POST('/api/v1/auth/verify-signin-otp', { body: { email, password, otp } }));
}

async function openSession(response: Promise<{ data?: Schema<'SignedIn'> }>): Promise<void> {
  try {
    const user = userIn(await dataOf(response));
    const preferences = await preferencesOf(user.token);
    try {
      session.signIn({ ...user, ...preferences });
    } catch (error) {
      void endSession(user.token);
      throw error;
    }
  } catch (error) {
    session.clear();
    throw error;
  }
  // Filled into the cache (REQ-128). If it fails, the screen that needs it reads it again.
  void queryClient.query(currentUserQuery()).catch(() => undefined);
}

function userIn(body: unknown) {
  const { token, email, name, role, ...user } =
    (body as { user?: Record<string, unknown> } | undefined)?.user ?? {};
  const username = textFrom(user.username);
  if (!isText(token) || !username || !isText(email)) throw new ApiError({ kind: 'malformed' });
  return { token, username, email, ...(isText(name) ? { name } : {}), ...(isText(role) ? { role } : {}) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Returns whether the sign-in failed because this account needs a code besides the password. */
export function isCodeRequired(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'code_required';
}

/** The field that has to be filled in before a code is requested (REQ-103, REQ-104). */
export function missingForCode({ email, password }: Credentials): FieldError<keyof Credentials> | null {
  if (!email.trim()) return { field: 'email', text: signInTexts().enterEmailFirst };
  if (!password.trim()) return { field: 'password', text: signInTexts().enterPasswordFirst };
  return null;
}

/** The error of the field that the failure is about, if it is about one. */
export function fieldAtFault(error: unknown): FieldError<keyof Credentials> | null {
  if (!(error instanceof ApiError)) return null;
  switch ((error.serverError ?? error.serverMessage)?.toLowerCase()) {
    case 'user not found':
      return { field: 'email', text: signInTexts().emailNotFound };
    case 'invalid password':
      return { field: 'password', text: signInTexts().passwordIncorrect };
    default:
      return null;
  }
}

/** The error of the field that the failure of a sign-in by code is about, if it is about one. */
export function rejectedField(error: unknown): FieldError<'otp' | keyof Credentials> | null {
  const isRefused = error instanceof ApiError && error.status === 400;
  return fieldAtFault(error) ?? (isRefused ? { field: 'otp', text: signInTexts().checkCode } : null);
}
