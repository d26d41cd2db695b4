import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { type Moment, written } from '../time';
import { emailOf, type Who } from '../who';
import { Verbs } from './verbs';

/** A call of the portal's API. */
export type Call = Schemas['Call'];

/** Which calls are meant. */
export interface CallFilter {
  method?: string;
  /** A part of the path. */
  path?: string;
  /** Such as `422`, `'4xx'`, `'none'` for no response, or `'fault'`. */
  status?: number | string;
  user?: Who;
  since?: Moment;
  until?: Moment;
}

/** The last thousand calls of the portal's API. */
export class Traffic extends Verbs {
  /** The calls that match, newest first. */
  async calls({ method, path, status, user, since, until }: CallFilter = {}): Promise<Call[]> {
    const query = {
      ...(method && { method }),
      ...(path && { path }),
      ...(status !== undefined && { status: String(status) }),
      ...(user && { user: emailOf(user) }),
      ...(since && { since: written(since) }),
      ...(until && { until: written(until) }),
    };
    return bodyOf(this.console.GET('/console/api/traffic', { params: { query } }));
  }

  /** All recorded calls as an HTTP Archive, for a bug report: browsers, Charles and Playwright open it. */
  async har(): Promise<Schemas['Har']> {
    return bodyOf(this.console.GET('/console/api/traffic.har'));
  }

  /** Deletes the recorded calls. */
  async clear(): Promise<void> {
    await bodyOf(this.console.DELETE('/console/api/traffic'));
  }
}
