import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../failures/api-error';

const RETRIES = 3;

/** What has been read from the provider, shared by all slices; emptied when the session ends. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 0,
      refetchOnWindowFocus: false,
      // The browser's own guess of being offline must not leave a screen waiting without a word.
      networkMode: 'always',
      retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && error.status === 401),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
