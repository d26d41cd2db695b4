import { acts, connection, session } from 'mfe-kit';
import { readEvents, type StreamEvent } from './event-lines';

/** Data that may have changed: lists, this person's bell, settings or preferences, or this person's account. */
export type Changed = 'loans' | 'notifications' | 'settings' | 'session';

const ADDRESS = '/api/v1/events';

/** The server sends a heartbeat every 15 s; a stream that is silent for longer than two is dead. */
const SILENCE_MS = 40_000;

/** Waits between two attempts: doubled with each failure, and drawn at random, so that tabs do not come back at once. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Follows the server's events while somebody is signed in, the portal can be reached and the page is visible;
 * tells what may have changed, also during an interruption. A server without events is asked once. Returns how
 * to stop.
 */
export function followEvents(onChanged: (changed: readonly Changed[]) => void): () => void {
  let following: AbortController | null = null;
  let hasEvents = true;
  let token: string | null = null;
  let lastId: string | undefined;

  function update() {
    const wanted = session.state.status === 'signed-in' ? session.token : null;
    if (wanted !== token) {
      stop();
      token = wanted;
      lastId = undefined;
    }
    if (!hasEvents || token === null || document.visibilityState === 'hidden' || !connection.isOnline) stop();
    else if (!following) {
      following = new AbortController();
      void keepStream(token, following.signal);
    }
  }

  function stop() {
    following?.abort();
    following = null;
  }

  function receive({ id, data }: StreamEvent) {
    lastId = id ?? lastId;
    onChanged(changedIn(data));
  }

  /** Has a stream, and replaces it when it ends, until `signal`. */
  async function keepStream(forToken: string, signal: AbortSignal) {
    let failures = 0;
    while (!signal.aborted) {
      const silent = new AbortController();
      let silence: ReturnType<typeof setTimeout> | undefined;
      const listen = () => {
        clearTimeout(silence);
        silence = setTimeout(() => silent.abort(), SILENCE_MS);
      };
      try {
        listen();
        const { traceparent } = acts;
        const { status, body } = await fetch(ADDRESS, {
          headers: {
            Accept: 'text/event-stream',
            Authorization: `Bearer ${forToken}`,
            ...(lastId === undefined ? {} : { 'Last-Event-ID': lastId }),
            ...(traceparent ? { traceparent } : {}),
          },
          cache: 'no-store',
          signal: AbortSignal.any([signal, silent.signal]),
        });
        hasEvents = status !== 404;
        if (status === 401 && session.token === forToken) session.expire();
        if (status === 200 && body)
          await readEvents(
            body,
            (event) => {
              failures = 0;
              receive(event);
            },
            listen,
          );
      } catch {
        /* tried again below */
      } finally {
        clearTimeout(silence);
      }
      if (!hasEvents) update();
      const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
      failures += 1;
      const wait = longest * (0.5 + Math.random() / 2);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  const stops = [session.subscribe(update), connection.subscribe(update)];
  document.addEventListener('visibilitychange', update);
  update();

  return () => {
    for (const stopOne of stops) stopOne();
    document.removeEventListener('visibilitychange', update);
    stop();
  };
}

function changedIn(data: string): readonly Changed[] {
  try {
    const { changed } = JSON.parse(data) as { changed?: unknown };
    return Array.isArray(changed) ? (changed as Changed[]) : [];
  } catch {
    return [];
  }
}
