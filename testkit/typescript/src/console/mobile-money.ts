import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { Verbs } from './verbs';

/** The outcome of a payment. */
export type Outcome = Schemas['Outcome'];

/** The behaviour of mobile money. */
export class MobileMoney extends Verbs {
  /** Queues the outcomes of the next payments, one for each, in place of what was queued. */
  async next(...outcomes: Outcome[]): Promise<void> {
    await this.change({ next: outcomes });
  }

  /** Sets the outcome of every payment for which none is queued. */
  async always(outcome: Outcome): Promise<void> {
    await this.change({ default: outcome });
  }

  /** Changes the outcomes, the response time, the float or the seed. */
  async change(change: Schemas['ScenarioChange']): Promise<Schemas['Scenario']> {
    return bodyOf(this.console.PUT('/console/api/scenario', { body: change }));
  }

  /** The current behaviour, every possible outcome, and the phone numbers and amounts that select one. */
  async behaviour(): Promise<Schemas['Scenario']> {
    return bodyOf(this.console.GET('/console/api/scenario'));
  }

  /** Resets the behaviour. */
  async reset(): Promise<void> {
    await bodyOf(this.console.DELETE('/console/api/scenario'));
  }
}
