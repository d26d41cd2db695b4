import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, isObject } from '../api/client';
import { ApiError } from '../failures/api-error';
import { queryKeys } from '../query/query-keys';
import { session } from '../session/session';
import { roleFrom } from '../session/session-user';

/**
 * The signed-in user as the provider knows it; read only with a token. It checks that the session is valid
 * and does not change the stored user, except where the screens are live. The data is `null` when the session has ended (REQ-069).
 */
export function currentUserQuery() {
  return queryOptions({
    queryKey: queryKeys.currentUser,
    queryFn: async ({ signal }) => {
      try {
        const user = await dataOf(api.GET('/api/v1/auth/me', { signal }));
        if (!isObject(user)) throw new ApiError({ kind: 'malformed' });
        const role = roleFrom(user.role);
        session.learn({ name: user.name, ...(role ? { role } : {}) });
        return user;
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
    enabled: () => session.token !== null,
    staleTime: Infinity,
  });
}
