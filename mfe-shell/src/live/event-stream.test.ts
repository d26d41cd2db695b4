import { acts, screenAct, session } from 'mfe-kit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followEvents } from './event-stream';

const SIGN_IN = { token: 'token-1', username: 'Achieng', email: 'agent@mkopo.test' };

/** A stream that the test feeds. */
function stream() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
  return { response: new Response(body), send, end: () => controller.close() };
}

const fetched = vi.fn<typeof fetch>();
const changed: string[] = [];
let stop = () => {};

const headersOf = (call: number) => new Headers(fetched.mock.calls[call]?.[1]?.headers);
const isAborted = (call: number) => fetched.mock.calls[call]?.[1]?.signal?.aborted;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function show(state: 'visible' | 'hidden') {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(1);
  fetched.mockReset();
  vi.stubGlobal('fetch', fetched);
  changed.length = 0;
});

afterEach(() => {
  stop();
  show('visible');
});

async function follow() {
  stop = followEvents((what) => changed.push(...what));
  await pass(0);
}

function followSignedIn() {
  session.signIn(SIGN_IN);
  return follow();
}

test('a signed-in page has one stream, with its token, and tells what has changed', async () => {
  const one = stream();
  fetched.mockResolvedValueOnce(one.response);
  await followSignedIn();
  expect(headersOf(0).get('Authorization')).toBe('Bearer token-1');
  expect(headersOf(0).get('Last-Event-ID')).toBeNull();
  one.send('retry: 2000\nid: 7\nevent: ready\ndata: {"changed":["lo');
  one.send('ans"]}\n\n: \n\nid: 8\nevent: changed\ndata: {"changed":["notifications","settings"]}\n\n');
  await pass(0);
  expect(changed).toEqual(['loans', 'notifications', 'settings']);
  expect(fetched).toHaveBeenCalledOnce();
});

test('a stream that is opened with a screen is of the same trace, and one that is resumed is of none', async () => {
  const stopActs = acts.record(() => undefined);
  const one = stream();
  fetched.mockResolvedValueOnce(one.response).mockResolvedValueOnce(stream().response);
  screenAct.open('/', false);
  await followSignedIn();
  expect(headersOf(0).get('traceparent')).toBe(acts.traceparent);
  expect(acts.traceparent).toBeDefined();
  screenAct.drawn(false);
  await pass(100);
  one.end();
  await pass(2000);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(headersOf(1).has('traceparent')).toBe(false);
  stopActs();
});

test('a stream that ends is resumed where it ended', async () => {
  const one = stream();
  fetched.mockResolvedValueOnce(one.response).mockResolvedValueOnce(stream().response);
  await followSignedIn();
  one.send('id: 7\nevent: ready\ndata: {"changed":[]}\n\n');
  await pass(0);
  one.end();
  await pass(1999);
  expect(fetched).toHaveBeenCalledTimes(1);
  await pass(1);
  expect(headersOf(1).get('Last-Event-ID')).toBe('7');
});

test('without an answer the waits grow to a minute', async () => {
  fetched.mockRejectedValue(new TypeError('Failed to fetch'));
  await followSignedIn();
  for (const [wait, calls] of [
    [2000, 2],
    [4000, 3],
    [8000, 4],
    [16_000, 5],
    [32_000, 6],
    [60_000, 7],
    [60_000, 8],
  ] as const) {
    await pass(wait - 1);
    expect(fetched).toHaveBeenCalledTimes(calls - 1);
    await pass(1);
    expect(fetched).toHaveBeenCalledTimes(calls);
  }
});

test('a stream without a heartbeat for 40 s is replaced', async () => {
  const one = stream();
  fetched.mockImplementation((_, options) => {
    options?.signal?.addEventListener('abort', () => one.end());
    return Promise.resolve(one.response);
  });
  await followSignedIn();
  one.send('id: 7\ndata: {"changed":[]}\n\n');
  await pass(39_000);
  one.send(': \n\n');
  await pass(39_000);
  expect(isAborted(0)).toBe(false);
  fetched.mockResolvedValueOnce(stream().response);
  await pass(1000 + 2000);
  expect(fetched).toHaveBeenCalledTimes(2);
});

test('a server without events is asked once', async () => {
  fetched.mockResolvedValue(new Response(null, { status: 404 }));
  await followSignedIn();
  await pass(600_000);
  show('visible');
  expect(fetched).toHaveBeenCalledOnce();
});

test('a server that no longer knows the session ends it', async () => {
  fetched.mockResolvedValue(new Response(null, { status: 401 }));
  await followSignedIn();
  expect(session.state.status).toBe('signed-out');
  await pass(600_000);
  expect(fetched).toHaveBeenCalledOnce();
});

test('signing out ends the stream, and another user gets a new one from its start', async () => {
  const one = stream();
  fetched.mockResolvedValueOnce(one.response).mockResolvedValueOnce(stream().response);
  await follow();
  expect(fetched).not.toHaveBeenCalled();
  session.signIn(SIGN_IN);
  await pass(0);
  one.send('id: 7\ndata: {"changed":[]}\n\n');
  await pass(0);
  session.clear();
  expect(isAborted(0)).toBe(true);
  session.signIn({ ...SIGN_IN, token: 'token-2' });
  await pass(0);
  expect(headersOf(1).get('Authorization')).toBe('Bearer token-2');
  expect(headersOf(1).get('Last-Event-ID')).toBeNull();
});

test('a hidden page has no stream, and resumes it when it is shown', async () => {
  const one = stream();
  fetched.mockResolvedValueOnce(one.response).mockResolvedValueOnce(stream().response);
  await followSignedIn();
  one.send('id: 7\ndata: {"changed":[]}\n\n');
  await pass(0);
  show('hidden');
  expect(isAborted(0)).toBe(true);
  await pass(600_000);
  expect(fetched).toHaveBeenCalledOnce();
  show('visible');
  expect(headersOf(1).get('Last-Event-ID')).toBe('7');
});

test('a page that no longer follows has no stream', async () => {
  fetched.mockImplementation(
    (_, options) => new Promise((_resolve, reject) => options?.signal?.addEventListener('abort', reject)),
  );
  await followSignedIn();
  stop();
  await pass(600_000);
  expect(fetched).toHaveBeenCalledOnce();
});
