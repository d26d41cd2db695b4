import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, isLive, orNull, queryClient, queryKeys, type Schema, session } from 'mfe-kit';

/** The person's notifications; `null` with a provider that does not support notifications. */
export function notificationsQuery() {
  return queryOptions({
    queryKey: queryKeys.notifications,
    queryFn: ({ signal }) => orNull(dataOf(api.GET('/api/v1/notifications', { signal }))),
    enabled: () => isLive() && session.token !== null,
  });
}

/** Marks everything up to a notification as read, on all of the person's devices. */
export async function markRead({ at }: Schema<'Notification'>): Promise<void> {
  const { queryKey } = notificationsQuery();
  queryClient.setQueryData(
    queryKey,
    await dataOf(api.PUT('/api/v1/notifications/read', { body: { until: at } })),
  );
}
