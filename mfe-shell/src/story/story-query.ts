import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, dataOf, queryClient, type Schema, saveFile, session } from 'mfe-kit';

const EVERY_MS = 2000;

/** The story of this sandbox, followed while the page is visible; `null` once it tells none. */
export function storyQuery() {
  return queryOptions({
    queryKey: ['story'],
    queryFn: ({ signal }) => dataOf(api.GET('/story/told', { signal })).catch(nullWithoutStory),
    refetchInterval: ({ state }) => (state.data === null || isGone(state.error) ? false : EVERY_MS),
    // The next interval is the next attempt.
    retry: false,
  });
}

function nullWithoutStory(error: unknown): null {
  if (error instanceof ApiError && error.status === 404 && !isGone(error)) return null;
  throw error;
}

/** `true` if a call failed because the whole sandbox is gone. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'sandbox_not_found';
}

/** Does the act of the step with this index, unless somebody else has gone on. */
export async function goOn(step: number): Promise<void> {
  await change(api.POST('/story/next', { body: { step } }));
  // Data that the act has changed may be on the screen.
  void queryClient.invalidateQueries();
}

export function keep(): Promise<void> {
  return change(api.POST('/story/keep'));
}

async function change(answer: Promise<{ data?: Schema<'GuestStory'> }>): Promise<void> {
  const { queryKey } = storyQuery();
  const story = await dataOf(answer);
  // An answer from before the change must not replace it.
  await queryClient.cancelQueries({ queryKey });
  queryClient.setQueryData(queryKey, story);
}

/** Saves the sandbox as a file, which `mkopo demo --from` takes. */
export async function take(name: string): Promise<void> {
  const { token } = session;
  // Not by the client of the contract, which reads text.
  const response = await fetch('/story/file', {
    headers: { Authorization: `Bearer ${token}` },
    cache: 'no-store',
  });
  if (!response.ok) {
    const { status } = response;
    if (status === 401 && session.token === token) session.expire();
    const { message, code } = (await response.json().catch(() => ({}))) as Partial<Schema<'Failure'>>;
    throw new ApiError({ kind: 'server', status, message, code });
  }
  saveFile(`${name}.mkopo`, await response.blob());
}
