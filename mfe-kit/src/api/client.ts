import createClient from 'openapi-fetch';
import { setClockBy } from '../clock/clock';
import type { paths } from 'mkopo-contract';
import { ApiError } from '../failures/api-error';
import { session } from '../session/session';
import { failActOf, traceparentFor } from '../trace/act';
import { heldList, holdList } from './held-lists';
import { type Answer, startedRead } from './started-reads';
import { textFrom } from './wire';

/** The time limit of a call, including its body, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * The contract's calls, typed: `api.GET('/api/v1/auth/me')`. A call resolves only on a 2xx status, and
 * rejects only with `ApiError`. The server's answer has to be JSON only for `dataOf` and `listOf`,
 * which read it. Nothing is stored in the browser's cache; a list that has not changed is not sent
 * again. A call carries the stored token; a 401 to a signed-in user's call ends the
 * session, and nothing else does. During an act of a person, it carries the act's trace.
 */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  fetch: sendForAct,
});

api.use({
  onRequest({ request }) {
    const { token } = session;
    if (token && !request.headers.has('Authorization'))
      request.headers.set('Authorization', `Bearer ${token}`);
    request.headers.set('Content-Type', 'application/json');
    const traceparent = traceparentFor(request.method);
    if (traceparent) request.headers.set('traceparent', traceparent);
    return request;
  },
});

/** Successful answers whose body is not JSON: that fails a call only where the body is read. */
const notJson = new WeakSet<Response>();

interface Answered<T> {
  data?: T;
  response?: Response;
}

/**
 * The body of a successful call. `failure` becomes the error's message where the server sent no
 * text.
 */
export async function dataOf<T>(call: Promise<Answered<T>>, failure?: string): Promise<T> {
  try {
    const { data, response } = await call;
    if (response && notJson.has(response)) throw new ApiError({ kind: 'malformed', status: response.status });
    return data as T;
  } catch (error) {
    if (failure && error instanceof ApiError && error.message === '') error.message = failure;
    throw error;
  }
}

/**
 * The rows of a successful call for a list; a body that is not an array fails it, like one that is not JSON. A row
 * that is no object, has no field, or none of the fields by which it is `known`, is an empty one, and reported: it does
 * not cost the others.
 */
export async function listOf<T>(
  call: Promise<Answered<T[]>>,
  known: readonly (keyof T)[] = [],
): Promise<T[]> {
  const rows: unknown = await dataOf(call);
  if (!Array.isArray(rows)) throw new ApiError({ kind: 'malformed' });
  const isReadable = (row: unknown) =>
    isObject(row) &&
    !Array.isArray(row) &&
    (known.length > 0 ? known.some((field) => textFrom((row as T)[field])) : Object.keys(row).length > 0);
  const unreadable = rows.filter((row) => !isReadable(row)).length;
  if (unreadable === 0) return rows as T[];
  console.error(`${unreadable} of ${rows.length} rows of a list could not be read`);
  return rows.map((row: unknown) => (isReadable(row) ? row : {}) as T);
}

/** Returns whether a value is an object or an array, and not `null`. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

async function sendForAct(request: Request): Promise<Response> {
  try {
    return await send(request);
  } catch (error) {
    // A call that nobody waits for any more has not failed.
    if (error instanceof ApiError) failActOf(request.headers.get('traceparent'));
    throw error;
  }
}

async function send(request: Request): Promise<Response> {
  const { status, headers, text } = await answerTo(request);
  const body = parse(text);
  if (status >= 200 && status < 300) {
    if (body !== undefined) return new Response(text, { status, headers });
    const empty = new Response(null, { status: 204, headers });
    if (text !== '') notJson.add(empty);
    return empty;
  }
  if (status === 401) endSessionOf(request);
  throw new ApiError({ kind: 'server', status, body, ...failureIn(body), ...waitIn(headers) });
}

async function answerTo(request: Request) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const held = heldList(request);
  if (held) request.headers.set('If-None-Match', held.etag);
  try {
    const signal = AbortSignal.any([timeout, request.signal]);
    const { status, headers, text, at } = await (startedRead(request) ?? fetched(request, signal));
    setClockBy(headers, at);
    if (held && status === 304) return { status: 200, headers, text: held.text };
    if (status === 200) holdList(request, headers, text);
    return { status, headers, text };
  } catch (cause) {
    if (request.signal.aborted) throw cause;
    const isTimeout = timeout.aborted || (cause instanceof DOMException && cause.name === 'TimeoutError');
    throw new ApiError({ kind: isTimeout ? 'timeout' : 'network', cause });
  }
}

async function fetched(request: Request, signal: AbortSignal): Promise<Answer> {
  // Nothing of a session stays in the browser's cache.
  const response = await fetch(request, { signal, cache: 'no-store' });
  const at = Date.now();
  const { status, headers } = response;
  return { status, headers, text: await response.text(), at };
}

/** A 401 to an older token, or without a token, does not concern the current session. */
function endSessionOf(request: Request) {
  const current = session.token === null ? null : `Bearer ${session.token}`;
  if (session.state.status === 'signed-in' && request.headers.get('Authorization') === current)
    session.expire();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failureIn(body: unknown) {
  if (!isObject(body)) return {};
  const { error, message, code, field, request_id } = body as Record<string, unknown>;
  return {
    error: textOrNone(error),
    message: textOrNone(message),
    code: textOrNone(code),
    field: textOrNone(field),
    requestId: textOrNone(request_id),
  };
}

/** RFC 9110, 10.2.3; a date is not read, as the server sends seconds. */
function waitIn(headers: Headers) {
  const seconds = Number.parseInt(headers.get('Retry-After') ?? '', 10);
  return Number.isNaN(seconds) ? {} : { retryAfterSeconds: seconds };
}

function textOrNone(value: unknown) {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
