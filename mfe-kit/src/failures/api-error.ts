/**
 * The kind of a call's failure: the server answered with a failure, it could not be reached, it did not
 * answer in time, or its answer was not what the contract says.
 */
export type ApiErrorKind = 'server' | 'network' | 'timeout' | 'malformed';

interface ApiErrorFacts {
  kind: ApiErrorKind;
  status?: number | undefined;
  code?: string | undefined;
  field?: string | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  error?: string | undefined;
  message?: string | undefined;
  body?: unknown;
  cause?: unknown;
}

/** The one error that a call rejects with. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ApiErrorKind;
  /** The HTTP status; `undefined` without an answer. */
  readonly status: number | undefined;
  /** The failure's code, such as `mobile_money_refused`. */
  readonly code: string | undefined;
  /** The field of the body that was refused, by its name in the contract, where the server names one. */
  readonly field: string | undefined;
  /** The request's id, by which the server's log and console know it. */
  readonly requestId: string | undefined;
  /** The time to wait before repeating the call, in seconds, where the server gives one. */
  readonly retryAfterSeconds: number | undefined;
  /** The body's `error` and `message`; screens show the one that the specification names. */
  readonly serverError: string | undefined;
  readonly serverMessage: string | undefined;
  /** The whole body, where it was JSON. */
  readonly body: unknown;

  constructor(facts: ApiErrorFacts) {
    super(facts.message ?? facts.error ?? '', { cause: facts.cause });
    this.kind = facts.kind;
    this.status = facts.status;
    this.code = facts.code;
    this.field = facts.field;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.serverError = facts.error;
    this.serverMessage = facts.message;
    this.body = facts.body;
  }

  /** The server's text, or '' without one. */
  get serverText(): string {
    return this.serverMessage ?? this.serverError ?? '';
  }

  /** `true` if the call may have taken effect although it failed: no final answer arrived. */
  get isOutcomeUnknown(): boolean {
    return this.kind !== 'server' || (this.status ?? 0) >= 500;
  }
}
