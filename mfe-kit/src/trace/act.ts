import type { Schema } from '../api/schema';

type Span = Schema<'PageSpan'>;

/** The name of a person's act, one of the contract's. */
export type ActName = Span['name'];

/** One thing that a person did, as the contract's span, with times in milliseconds of `performance.now()`. */
export interface Act extends Omit<Span, 'ago_ms' | 'ms'> {
  began: number;
  ended: number;
}

/** An act that has not ended. */
export type OpenAct = Omit<Act, 'ended'>;

/** The contract's longest pattern. */
const MAX_SCREEN = 200;

const NAMES: readonly ActName[] = ['sign in', 'open a screen', 'confirm a payout', 'try again'];

let receive: ((act: Act) => void) | null = null;
let screen = '';

/** In the order in which they began. */
let open: OpenAct[] = [];

/** The one of them that opens a screen. */
let opening: OpenAct | null = null;

/**
 * The acts of people on this page, where the deployment records traces: the calls of an act carry its trace.
 * A slice names an act in the `meta` of a mutation, and the shell opens the screens.
 */
export const acts = {
  /** Passes on each act that ends; until this is called, none begins. Called once by the shell; returns how to stop. */
  record(receiver: (act: Act) => void): () => void {
    receive = receiver;
    return () => {
      receive = null;
      open = [];
      tellPage();
    };
  },

  /** The header `traceparent` of a call that is not made with `api`; `undefined` outside of acts. */
  get traceparent(): string | undefined {
    return traceparentFor('GET');
  },
};

/** Returns whether acts are recorded. */
export function areActsRecorded(): boolean {
  return receive !== null;
}

/** Says on which screen acts begin from now on: by the pattern of its path, never by its address. */
export function setScreen(pattern: string): void {
  screen = pattern.slice(0, MAX_SCREEN);
}

/** The act turns out to be one of the screen that was set last. */
export function moveToScreen(act: OpenAct): void {
  act.screen = screen;
}

/** Begins an act; `null` where none is recorded, or the contract has no such name. */
export function beginAct(name: unknown): OpenAct | null {
  return isName(name)
    ? add(name, { trace_id: randomId(16), span_id: randomId(8), began: performance.now() })
    : null;
}

/** Begins to open a screen, as `beginAct`; the first screen's act has begun with the page. */
export function beginOpening(name: 'open a screen' | 'try again'): OpenAct | null {
  const begun = open.length === 0 ? window.__READS__?.traceparent : undefined;
  const [, trace_id, span_id] = begun?.split('-') ?? [];
  opening = trace_id && span_id ? add(name, { trace_id, span_id, began: 0 }) : beginAct(name);
  return opening;
}

function add(name: ActName, given: Pick<OpenAct, 'trace_id' | 'span_id' | 'began'>): OpenAct | null {
  if (!receive) return null;
  const act = { ...given, name, screen, failed: false };
  open.push(act);
  tellPage();
  return act;
}

/** Ends an act, once. */
export function endAct(act: OpenAct, ended = performance.now()): void {
  if (!open.includes(act)) return;
  open = open.filter((other) => other !== act);
  tellPage();
  receive?.({ ...act, ended });
}

/**
 * The header of a call that is made now: that of the act that began last. It is a guess, because a browser does not know
 * which act a call is made for: a poll during an act is counted as its own, and so is a call that an earlier act makes
 * while a later one is open. Only that a call that changes something is not made to open a screen is certain.
 */
export function traceparentFor(method: string): string | undefined {
  const act = open.findLast((other) => method === 'GET' || other !== opening);
  return act && headerOf(act);
}

/** A call with this header has failed, and with it its act. */
export function failActOf(traceparent: string | null): void {
  const act = traceparent && open.find((other) => headerOf(other) === traceparent);
  if (act) act.failed = true;
}

/** The page starts calls before the code that makes them is loaded. */
function tellPage() {
  const reads = window.__READS__;
  if (!reads) return;
  const header = acts.traceparent;
  if (header) reads.traceparent = header;
  else delete reads.traceparent;
}

function headerOf({ trace_id, span_id }: OpenAct) {
  return `00-${trace_id}-${span_id}-01`;
}

function isName(name: unknown): name is ActName {
  return NAMES.includes(name as ActName);
}

function randomId(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  // An id of zeros is not valid.
  bytes[0] ||= 1;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
