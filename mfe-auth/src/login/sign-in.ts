import { api, ApiError, dataOf, session } from 'mfe-kit';

/** What a server's text means to the person who signs in. */
const MESSAGES: Record<string, string> = {
  'user not found': 'Email not found. Please check your email address.',
  'invalid password': 'Incorrect password. Please try again.',
  'account is inactive': 'Your account is inactive. Please contact support.',
};

/** Signs in by password and keeps the session; a failure leaves nobody signed in (REQ-062). */
export async function signInByPassword(email: string, password: string): Promise<void> {
  try {
    const { user } = await dataOf(api.POST('/api/v1/auth/login', { body: { email, password } }));
    session.signIn(user);
  } catch (error) {
    session.clear();
    throw error;
  }
}

/** The sentence for a failed sign-in by password (REQ-095 to REQ-099). */
export function signInFailure(error: unknown): string {
  if (!(error instanceof ApiError) || error.kind !== 'server')
    return 'An unexpected error occurred. Please try again.';
  const text = error.serverError ?? error.serverMessage ?? '';
  return MESSAGES[text.toLowerCase()] ?? (text || 'Login failed. Please try again.');
}
