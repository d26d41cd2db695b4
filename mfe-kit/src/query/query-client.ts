import { MutationCache, onlineManager, QueryClient } from '@tanstack/react-query';
import { connection } from '../connection/connection';
import { ApiError } from '../failures/api-error';
import { type ActName, beginAct, endAct, type OpenAct } from '../trace/act';

declare module '@tanstack/react-query' {
  interface Register {
    /** `act` is what a person does with the mutation, for the traces of the deployment. */
    mutationMeta: { act?: ActName; [other: string]: unknown };
  }
}

const RETRIES = 3;

const actOf = new WeakMap<object, OpenAct>();

/** The acts of mutations that name one; the name is no code, so that slices work in a shell that knows of none. */
const mutationCache = new MutationCache({
  onMutate(_variables, mutation) {
    const act = beginAct(mutation.meta?.act);
    if (act) actOf.set(mutation, act);
  },
  onSettled(_data, error, _variables, _context, mutation) {
    const act = actOf.get(mutation);
    if (!act) return;
    if (error) act.failed = true;
    endAct(act);
  },
});

/** The cache of what was read from the provider, shared by all slices; cleared when the session ends. */
export const queryClient = new QueryClient({
  mutationCache,
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
