import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, orNull, queryKeys } from 'mfe-kit';

/** The rules of the deployment; `null` with a provider that keeps none. */
export function settingsQuery() {
  return queryOptions({
    queryKey: queryKeys.settings,
    queryFn: ({ signal }) => orNull(dataOf(api.GET('/api/v1/settings', { signal }))),
  });
}
