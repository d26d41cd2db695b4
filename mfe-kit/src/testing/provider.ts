import { http, HttpResponse, type DefaultBodyType, delay } from 'msw';
import { setupServer } from 'msw/node';
import { vi } from 'vitest';
import type { paths } from 'mkopo-contract';

/** The provider of the tests; a request without a prepared answer fails the test. */
export const provider = setupServer();

type Method = 'get' | 'post' | 'put' | 'delete';
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];
type ResponsesOf<M extends Method, P extends PathOf<M>> =
  paths[P] extends Record<M, { responses: infer Responses }> ? Responses : never;
type StatusOf<M extends Method, P extends PathOf<M>> = keyof ResponsesOf<M, P> & number;
type BodyOf<M extends Method, P extends PathOf<M>, S extends StatusOf<M, P>> = ResponsesOf<M, P>[S] extends {
  content: { 'application/json': infer Body };
}
  ? Body
  : undefined;

/** A request that the portal made. */
export interface Received {
  headers: Headers;
  /** The JSON body, where there was one. */
  body: unknown;
  url: URL;
}

/**
 * Makes the provider answer a call of the contract with a status and a body of the contract; returns the
 * requests it then receives, in order. `afterMs` delays the answer, and `until` does until it is resolved.
 */
export function answer<M extends Method, P extends PathOf<M>, S extends StatusOf<M, P>>(
  method: M,
  path: P,
  status: S,
  body: BodyOf<M, P, S>,
  { afterMs = 0, until }: { afterMs?: number; until?: Promise<unknown> } = {},
): Received[] {
  const received: Received[] = [];
  provider.use(
    http[method](addressOf(path), async ({ request }) => {
      received.push(await read(request));
      if (afterMs > 0) await delay(afterMs);
      await until;
      return body === undefined
        ? new HttpResponse(null, { status })
        : HttpResponse.json(body as DefaultBodyType, { status });
    }),
  );
  return received;
}

/** Delays an answer until `release()`, however slow the machine: `answer(…, { until: held.back })`. */
export function hold() {
  let release: () => void = () => undefined;
  const back = new Promise<void>((resolve) => (release = resolve));
  return { back, release };
}

/** Makes a call fail as if the provider could not be reached. */
export function unreachable<M extends Method>(method: M, path: PathOf<M>): void {
  provider.use(http[method](addressOf(path), () => HttpResponse.error()));
}

/** Makes a call be answered with status 200 and a body that is not the contract's. */
export function garbled<M extends Method>(method: M, path: PathOf<M>, body: string): void {
  provider.use(http[method](addressOf(path), () => new HttpResponse(body)));
}

/** Makes a call go unanswered; it times out at once. */
export function silent<M extends Method>(method: M, path: PathOf<M>): void {
  const given: AbortController[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    given.push(new AbortController());
    return given.at(-1)!.signal;
  });
  provider.use(
    http[method](addressOf(path), () => {
      given.at(-1)?.abort(new DOMException('The time is over', 'TimeoutError'));
      return delay('infinite').then(() => HttpResponse.error());
    }),
  );
}

/** A failure's body as the provider writes it; `field` is the one of the call's body that it is about. */
export function failure(text: string, code = 'failed', field?: string) {
  return { error: text, message: text, code, ...(field ? { field } : {}), request_id: 'req-test' };
}

function addressOf(path: string): string {
  return `http://portal.test${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
}

async function read(request: Request): Promise<Received> {
  const text = await request.text();
  return { headers: request.headers, body: text ? JSON.parse(text) : undefined, url: new URL(request.url) };
}
