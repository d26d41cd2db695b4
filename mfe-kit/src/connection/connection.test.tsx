import { act, render, screen } from '@testing-library/react';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { connection, queryClient, useIsOnline } from 'mfe-kit';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';

function Word() {
  return <p>{useIsOnline() ? 'online' : 'offline'}</p>;
}

const fetched = vi.fn<typeof fetch>();

beforeAll(() => connection.start());

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', fetched.mockReset().mockRejectedValue(new TypeError('Failed to fetch')));
  render(<Word />);
});

afterEach(async () => {
  fetched.mockResolvedValue(new Response());
  await browserSays('online');
});

/** The browser's word, and the time that an answer to it takes. */
const browserSays = (word: 'online' | 'offline') =>
  act(async () => {
    window.dispatchEvent(new Event(word));
    await vi.advanceTimersByTimeAsync(0);
  });

test('going offline shows at once, and the portal is checked until it is back', async () => {
  expect(screen.getByText('online')).toBeVisible();
  await browserSays('offline');
  expect(screen.getByText('offline')).toBeVisible();
  fetched.mockResolvedValue(new Response());
  await act(() => vi.advanceTimersByTimeAsync(4_999));
  expect(screen.getByText('offline')).toBeVisible();
  await act(() => vi.advanceTimersByTimeAsync(1));
  expect(screen.getByText('online')).toBeVisible();
});

test('a network without the portal does not count as online', async () => {
  await browserSays('offline');
  await browserSays('online');
  expect(screen.getByText('offline')).toBeVisible();
  fetched.mockResolvedValue(new Response());
  await browserSays('online');
  expect(screen.getByText('online')).toBeVisible();
});

test('a portal on the same machine needs no network', async () => {
  fetched.mockResolvedValue(new Response());
  await browserSays('offline');
  expect(screen.getByText('online')).toBeVisible();
});

test('what could not be read is read again once the portal is back', async () => {
  const read = vi.fn(() => Promise.resolve('read')).mockRejectedValueOnce(new TypeError('Failed to fetch'));
  function Read() {
    const { data, isError } = useQuery({ queryKey: ['read'], queryFn: read, retry: false });
    return <p>{isError ? 'failed' : data}</p>;
  }
  await browserSays('offline');
  render(
    <QueryClientProvider client={queryClient}>
      <Read />
    </QueryClientProvider>,
  );
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(screen.getByText('failed')).toBeVisible();
  fetched.mockResolvedValue(new Response());
  await browserSays('online');
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(screen.getByText('read')).toBeVisible();
});
