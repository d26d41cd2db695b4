import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { type Moment, written } from '../time';
import { Verbs } from './verbs';

/** Which events are meant. */
export interface EventFilter {
  kind?: Schemas['EventKind'];
  /** A part of who did it or of what it is about; a whole e-mail address also finds failed sign-ins. */
  who?: string;
  /** The beginning of the network address. */
  address?: string;
  since?: Moment;
  until?: Moment;
  /** At most 1000; 100 if missing. */
  limit?: number;
}

/** The audit trail. It has real times, and a reset leaves it alone. */
export class Events extends Verbs {
  /** The events that match, newest first. */
  async list({ since, until, ...filter }: EventFilter = {}): Promise<Schemas['Event'][]> {
    const query = {
      ...filter,
      ...(since && { since: written(since) }),
      ...(until && { until: written(until) }),
    };
    return bodyOf(this.console.GET('/console/api/events', { params: { query } }));
  }
}
