import { type Act, acts, type Schema } from 'mfe-kit';
import { flushTogether } from '../beacons/flush-together';

const ADDRESS = '/spans';

/** The maximum number of spans that wait; later ones are dropped. */
const MAX_WAITING = 100;

/** The server accepts calls of 8 KiB with 20 spans. */
const MAX_BYTES = 4096;
const MAX_SPANS = 20;

/** The longest time of the contract, in milliseconds. */
const LONGEST_MS = 600_000;

/** Sends what people did, together, and when the page is left; returns how to stop. */
export function sendSpans(): () => void {
  let waiting: Act[] = [];
  const together = flushTogether(() => {
    const now = performance.now();
    waiting = waiting.filter(({ began }) => now - began <= LONGEST_MS);
    while (waiting.length > 0) {
      const { body, count } = firstOf(waiting, now);
      // The browser has too much to send: they wait for the next act.
      if (!navigator.sendBeacon(ADDRESS, body)) return;
      waiting = waiting.slice(count);
    }
  });
  const stop = acts.record((act) => {
    if (waiting.length >= MAX_WAITING) return;
    waiting.push(act);
    together.ask();
  });
  return () => {
    together.stop();
    stop();
  };
}

/** The first acts, as many as a call may have. */
function firstOf(all: readonly Act[], now: number): { body: Blob; count: number } {
  const spans = all.slice(0, MAX_SPANS).map((act) => spanOf(act, now));
  for (;;) {
    const body: Schema<'PageSpans'> = { spans };
    const blob = new Blob([JSON.stringify(body)], { type: 'application/json' });
    if (blob.size <= MAX_BYTES || spans.length === 1) return { body: blob, count: spans.length };
    spans.pop();
  }
}

/** Its time counts backwards from the call, so that the page's clock does not matter. */
function spanOf({ began, ended, ...act }: Act, now: number): Schema<'PageSpan'> {
  return { ...act, ago_ms: Math.round(now - began), ms: Math.min(Math.round(ended - began), LONGEST_MS) };
}
