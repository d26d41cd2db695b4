import { type Act, acts, type Schema } from 'mfe-kit';
import { beacon } from '../beacons/beacon';

const MAX_WAITING = 100;

/** The longest time of the contract, in milliseconds. */
const LONGEST_MS = 600_000;

/** Sends what people did; returns how to stop. */
export function sendSpans(): () => void {
  const { add, stop } = beacon('/spans', bodyOf, {
    most: MAX_WAITING,
    isOutdated: ({ began }) => performance.now() - began > LONGEST_MS,
  });
  const stopRecording = acts.record(add);
  return () => {
    stop();
    stopRecording();
  };
}

/** Times count backwards from the call, so that the page's clock does not matter. */
function bodyOf(all: readonly Act[]): Schema<'PageSpans'> {
  const now = performance.now();
  const spans = all.map(({ began, ended, ...act }) => ({
    ...act,
    ago_ms: Math.round(now - began),
    ms: Math.min(Math.round(ended - began), LONGEST_MS),
  }));
  return { spans };
}
