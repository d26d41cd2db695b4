import { api } from '../api/client';
import { session } from '../session/session';

/** Signs out in this browser first, then at the provider, which ends the session everywhere. */
export async function signOut(): Promise<void> {
  const { token } = session;
  session.clear();
  if (token) await endSession(token);
}

/** Ends the session of a token at the provider. A failure of that call is only logged (REQ-058). */
export async function endSession(token: string): Promise<void> {
  try {
    await api.POST('/api/v1/auth/logout', { headers: { Authorization: `Bearer ${token}` } });
  } catch (error) {
    console.error('Signing out at the provider failed', error);
  }
}
