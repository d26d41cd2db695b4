import { ApiError, queryClient } from 'mfe-kit';
import { beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => vi.useFakeTimers());

/** The total number of calls of a query that fails with this error, retries included. */
async function asked(failure: Error) {
  const ask = vi.fn(() => Promise.reject(failure));
  const read = queryClient.query({ queryKey: [failure], queryFn: ask, retry: defaults().retry });
  const settled = expect(read).rejects.toBe(failure);
  await vi.runAllTimersAsync();
  await settled;
  return ask.mock.calls.length;
}

function defaults() {
  return queryClient.getDefaultOptions().queries ?? {};
}

test('REQ-370 data is stale at once, and not read again on window focus', () => {
  expect(defaults()).toMatchObject({ staleTime: 0, refetchOnWindowFocus: false });
});

test('REQ-371 a query that fails with 401 is not retried', async () => {
  expect(await asked(new ApiError({ kind: 'server', status: 401 }))).toBe(1);
});

test('REQ-372 any other failing query is retried three times', async () => {
  expect(await asked(new ApiError({ kind: 'server', status: 500 }))).toBe(4);
  expect(await asked(new ApiError({ kind: 'network' }))).toBe(4);
});
