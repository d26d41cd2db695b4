import { api } from '../api/client';
import { session } from '../session/session';

/**
 * Signs out in this browser first, then calls the provider, which ends the session everywhere. A
 * failure of that call is only logged (REQ-058).
 */
export async function signOut(): Promise<void> {
  const { token } = session;
  session.clear();
  if (!token) return;
  try {
    await api.POST('/api/v1/auth/logout', { headers: { Authorization: `Bearer ${token}` } });
  } catch (error) {
    console.error('Signing out at the provider failed', error);
  }
}
