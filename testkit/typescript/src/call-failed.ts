interface Failed {
  request: string;
  status: number | undefined;
  body: unknown;
}

/** A call that the service refused, or that got no complete answer, or one that can't be read. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** The HTTP status; `undefined` if there was no complete answer. */
  readonly status: number | undefined;
  /** The failure's code, such as `mobile_money_refused`. */
  readonly code: string | undefined;
  /** The answer's body. */
  readonly body: unknown;

  constructor({ request, status, body }: Failed, options?: ErrorOptions) {
    const { code, message, request_id } = isObject(body) ? body : {};
    const what = [status ?? 'no answer', code, message].filter(Boolean).map(String).join(' ');
    super(`${request}: ${what}${typeof request_id === 'string' ? ` (request ${request_id})` : ''}`, options);
    this.status = status;
    this.code = typeof code === 'string' ? code : undefined;
    this.body = body;
    this.#leaveOutKit();
  }

  /** The first line of the stack is the test's, so that reports show it. */
  #leaveOutKit() {
    const lines = this.stack?.split('\n').filter((line) => !line.includes(import.meta.dirname));
    if (lines) this.stack = lines.join('\n');
  }
}

/** The answer of a typed client to a call. */
interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The requests of answers, for what is said about them. */
const requests = new WeakMap<Response, string>();

/** The body of a successful answer; fails with {@link CallFailed} otherwise. */
export async function bodyOf<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const request = requests.get(response) ?? response.url;
  throw new CallFailed({ request, status: response.status, body: error });
}

/** The answer to a call that consoles may refuse: outside demo mode, or with another provider. */
export async function ifAllowed<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (error instanceof CallFailed && error.status === 403) return undefined;
    throw error;
  });
}

/** Calls with `fetch`, and says which call got no complete answer, or one that can't be read. */
export async function send(request: Request): Promise<Response> {
  const described = `${request.method} ${request.url}`;
  let status: number | undefined;
  try {
    const response = await fetch(request);
    requests.set(response, described);
    const type = response.headers.get('Content-Type') ?? '';
    // A stream of events has no end.
    if (type.startsWith('text/event-stream')) return response;
    const body = await response.clone().text();
    status = response.status;
    if (response.ok && body && type.includes('json')) JSON.parse(body);
    return response;
  } catch (cause) {
    // What `fetch` throws says why in its own cause.
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    const message = reason instanceof Error ? reason.message : undefined;
    throw new CallFailed({ request: described, status, body: { message } }, { cause });
  }
}

function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null;
}
