import { setTimeout } from 'node:timers/promises';
import { bodyOf, CallFailed } from '../call-failed';
import type { Schemas } from '../clients';
import { type Duration, milliseconds, type Moment, written } from '../time';
import { emailOf, type Who } from '../who';
import { Verbs } from './verbs';

/** The record of a payout. */
export type Payout = Schemas['DisbursementRecord'];

/** A payout to make as if it had been made earlier. */
export interface PastPayout {
  /** A loan that was approved before `at`: approve it with `approved_at`. A generated one if missing. */
  loan?: { loan_id: string };
  /** `success`, or a refusal. */
  outcome?: Schemas['Outcome'];
  /** At least 2 seconds ago; 2 seconds ago if missing. */
  at?: Moment;
  /** Who paid the loan out. */
  by?: Who;
}

/** The interval between two checks whether a loan with earlier payouts has another, in milliseconds. */
const POLL_INTERVAL = 100;

/** The payouts. */
export class Payouts extends Verbs {
  /** The payouts that `settled` does not return: it has returned them, or they are the past. */
  readonly #passed = new Set<string>();
  /** The payouts that were there at the start. */
  readonly #atStart = new Set<string>();
  /** The latest payout that `Session.payOut` was told of, by loan. */
  readonly #reported = new Map<string, string>();

  /** All payouts, newest first, or those of one loan. */
  async list({ loan, settled }: { loan?: { loan_id: string }; settled?: boolean } = {}): Promise<Payout[]> {
    const query = { ...(loan && { loan_id: loan.loan_id }), ...(settled !== undefined && { settled }) };
    return bodyOf(this.console.GET('/console/api/payouts', { params: { query } }));
  }

  /** The next payout of a loan that has settled, and waits for it: each is returned once, the oldest first. */
  async settled(loan: { loan_id: string }, { wait = '20s' }: { wait?: Duration } = {}): Promise<Payout> {
    const query = { loan_id: loan.loan_id, settled: true, wait };
    const deadline = Date.now() + milliseconds(wait);
    for (;;) {
      const settled = await bodyOf(this.console.GET('/console/api/payouts', { params: { query } }));
      const next = settled.findLast(({ id }) => !this.#passed.has(id));
      if (next) {
        this.#passed.add(next.id);
        return next;
      }
      if (Date.now() >= deadline)
        throw new Error(
          `No ${settled.length ? 'other ' : ''}payout of ${loan.loan_id} has settled within ${wait}`,
        );
      await setTimeout(POLL_INTERVAL);
    }
  }

  /** Skips the payouts that have settled so far: `settled` returns only what follows. */
  async skip(): Promise<void> {
    for (const { id } of await this.list({ settled: true })) this.#passed.add(id);
  }

  /** @internal The payouts so far are those of the start, and skipped if they have settled. */
  async begin(): Promise<void> {
    for (const { id, status } of await this.list()) {
      this.#atStart.add(id);
      if (status !== 'PENDING') this.#passed.add(id);
    }
  }

  /** @internal All payouts since the start, newest first. */
  async sinceStart(): Promise<Payout[]> {
    return (await this.list()).filter(({ id }) => !this.#atStart.has(id));
  }

  /** @internal Pays a loan out: what an earlier attempt here was told is the past then. */
  async attempt<T extends { id: string }>(loan_id: string, payOut: () => Promise<T>): Promise<T> {
    const earlier = this.#reported.get(loan_id);
    if (earlier) this.#passed.add(earlier);
    const report = (id: string) => {
      this.#reported.set(loan_id, id);
      // A repeated request is answered with the same payout.
      this.#passed.delete(id);
    };
    try {
      const payout = await payOut();
      report(payout.id);
      return payout;
    } catch (error) {
      const refusal =
        error instanceof CallFailed ? (error.body as { record?: Payout } | undefined) : undefined;
      if (refusal?.record) report(refusal.record.id);
      throw error;
    }
  }

  /** Adds a settled payout of the past, with its payment in mobile money's ledger. */
  async makePast({ loan, outcome, at, by }: PastPayout = {}): Promise<Payout> {
    const body = {
      ...(loan && { loan_id: loan.loan_id }),
      ...(outcome && { outcome }),
      ...(at && { created_at: written(at) }),
      ...(by && { user_email: emailOf(by) }),
    };
    const made = await bodyOf(this.console.POST('/console/api/payouts', { body }));
    this.#passed.add(made.id);
    return made;
  }
}
