import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { type Duration, type Moment, written } from '../time';
import { Verbs } from './verbs';

/** The clock that sessions, codes, limits, receipts and dates follow. */
export class Clock extends Verbs {
  /** The time of the sandbox. */
  async now(): Promise<Date> {
    const { now } = await bodyOf(this.console.GET('/console/api/clock'));
    return new Date(now);
  }

  /** Moves the clock forward: `advance('1d')`. */
  async advance(by: Duration): Promise<void> {
    await this.#change({ advance: by });
  }

  /** Sets the clock, which can be to the past. */
  async set(now: Moment): Promise<void> {
    await this.#change({ now: written(now) });
  }

  /** Stops the clock, at another time if one is given. */
  async freeze(at?: Moment): Promise<void> {
    await this.#change({ frozen: true, ...(at && { now: written(at) }) });
  }

  /** Lets a stopped clock run again. */
  async unfreeze(): Promise<void> {
    await this.#change({ frozen: false });
  }

  /** Goes back to the real time, running. */
  async reset(): Promise<void> {
    await bodyOf(this.console.DELETE('/console/api/clock'));
  }

  async #change(change: Schemas['ClockChange']): Promise<void> {
    await bodyOf(this.console.PUT('/console/api/clock', { body: change }));
  }
}
