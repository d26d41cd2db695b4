/** The network's answer to a call. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** When it arrived, in milliseconds of this machine's clock. */
  at: number;
}

/** A call that the page has started before the code that makes it was loaded. */
interface StartedRead {
  authorization: string;
  answer: Promise<Answer>;
}

declare global {
  interface Window {
    /** Set by an inline script of the page. */
    __READS__?: {
      /** The started calls by path, each for half a minute. */
      started: Map<string, StartedRead>;
      /** Starts calls of the signed-in user, unless they are started already. */
      start: (paths: readonly string[]) => void;
      /** The header of calls that are started now, where a person's act is traced; the page begins the first. */
      traceparent?: string;
    };
  }
}

/** The answer to a call that the page has started for this session. It is given once. */
export function startedRead(request: Request): Promise<Answer> | undefined {
  const reads = window.__READS__;
  if (!reads) return undefined;
  if (request.method !== 'GET') {
    // An answer from before a change is not used after it.
    reads.started.clear();
    return undefined;
  }
  const { pathname, search } = new URL(request.url);
  const path = pathname + search;
  const read = reads.started.get(path);
  if (read?.authorization !== request.headers.get('Authorization')) return undefined;
  reads.started.delete(path);
  return read.answer;
}
