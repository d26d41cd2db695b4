import { acts, connection, session } from 'mfe-kit';
import { readEvents } from './event-lines';

/** Data that may have changed: lists, this person's bell, settings or preferences, or the session itself. */
export type Changed = 'loans' | 'notifications' | 'settings' | 'session';

const ADDRESS = '/api/v1/events';

/** The server sends a heartbeat every 15 s; a stream that is silent for longer than two is dead. */
const SILENCE_MS = 40_000;

/** Waits between two attempts: doubled with each failure, and drawn at random, so that tabs do not come back at once. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/** A page that is hidden for longer needs no stream until it is shown again. */
const HIDDEN_MS = 5 * 60_000;

/**
 * Follows the server's events while somebody is signed in, the portal can be reached and the page is not
 * hidden for long; tells what may have changed, also during an interruption. A server without events is asked
 * once. Returns how to stop.
 */
export function followEvents(onChanged: (changed: readonly Changed[]) => void): () => void {
  let stream: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let isHidden = document.visibilityState === 'hidden';
  let hasEvents = true;
  let failures = 0;
  let token: string | null = null;
  let lastId: string | undefined;

  /** Opens or closes the stream, as is right now. */
  function update() {
    const wanted = session.state.status === 'signed-in' ? session.token : null;
    if (wanted !== token) {
      close();
      token = wanted;
      lastId = undefined;
      failures = 0;
    }
    if (!hasEvents || token === null || isHidden || !connection.isOnline) close();
    else if (!stream && timer === undefined) void open(token);
  }

  function close() {
    clearTimeout(timer);
    timer = undefined;
    stream?.abort();
    stream = null;
  }

  async function open(forToken: string) {
    const current = new AbortController();
    stream = current;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => current.abort(), SILENCE_MS);
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
        signal: current.signal,
      });
      hasEvents = status !== 404;
      if (status === 401 && session.token === forToken) session.expire();
      if (status === 200 && body)
        await readEvents(
          body,
          ({ id, data }) => {
            failures = 0;
            lastId = id ?? lastId;
            onChanged(changedIn(data));
          },
          listen,
        );
    } catch {
      /* tried again below */
    } finally {
      clearTimeout(silence);
    }
    if (stream !== current) return;
    stream = null;
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    failures += 1;
    timer = setTimeout(
      () => {
        timer = undefined;
        update();
      },
      longest * (0.5 + Math.random() / 2),
    );
    update();
  }

  function onVisibility() {
    clearTimeout(hiding);
    if (document.visibilityState === 'hidden') {
      hiding = setTimeout(() => {
        isHidden = true;
        update();
      }, HIDDEN_MS);
      return;
    }
    isHidden = false;
    update();
  }

  const stops = [session.subscribe(update), connection.subscribe(update)];
  document.addEventListener('visibilitychange', onVisibility);
  update();

  return () => {
    for (const stop of stops) stop();
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(hiding);
    hasEvents = false;
    update();
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
