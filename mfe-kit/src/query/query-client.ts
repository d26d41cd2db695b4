import { onlineManager, QueryClient } from '@tanstack/react-query';
import { connection } from '../connection/connection';
import { ApiError } from '../failures/api-error';

const RETRIES = 3;

/** The cache of what was read from the provider, shared by all slices; cleared when the session ends. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 0,
      refetchOnWindowFocus: false,
      // Otherwise a screen would wait without a message while the browser believes to be offline.
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && error.status === 401),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

// A browser that is online again may still not reach the portal.
onlineManager.setEventListener((setOnline) => {
  const follow = () => setOnline(connection.isOnline);
  follow();
  return connection.subscribe(follow);
});
