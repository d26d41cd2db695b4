/**
 * How a call failed: the server said so, it could not be reached, it did not answer in time, or it
 * answered something that is not JSON.
 */
export type ApiErrorKind = 'server' | 'network' | 'timeout' | 'malformed';

interface ApiErrorFacts {
  kind: ApiErrorKind;
  status?: number | undefined;
  code?: string | undefined;
  error?: string | undefined;
  message?: string | undefined;
  body?: unknown;
  cause?: unknown;
}

/** The one error that a call rejects with. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ApiErrorKind;
  /** The HTTP status; `undefined` when no answer came. */
  readonly status: number | undefined;
  /** The failure's name for programs, such as `mobile_money_refused`. */
  readonly code: string | undefined;
  /** The body's `error` and `message`; screens read the one that the specification names first. */
  readonly serverError: string | undefined;
  readonly serverMessage: string | undefined;
  /** The whole body, where it was JSON. */
  readonly body: unknown;

  constructor(facts: ApiErrorFacts) {
    super(facts.message ?? facts.error ?? '', { cause: facts.cause });
    this.kind = facts.kind;
    this.status = facts.status;
    this.code = facts.code;
    this.serverError = facts.error;
    this.serverMessage = facts.message;
    this.body = facts.body;
  }

  /** The server's own text, or '' when it gave none. */
  get serverText(): string {
    return this.serverMessage ?? this.serverError ?? '';
  }

  /** Whether the call may have taken effect all the same: no final answer arrived. */
  get isOutcomeUnknown(): boolean {
    return this.kind !== 'server' || (this.status ?? 0) >= 500;
  }
}
