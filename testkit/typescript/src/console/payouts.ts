import { bodyOf } from '../call-failed';
import type { ConsoleClient, Schemas } from '../clients';
import { type Duration, type Moment, written } from '../time';
import { emailOf, type Who } from '../who';

/** The record of a payout. */
export type Payout = Schemas['DisbursementRecord'];

/** A payout to make as if it had been made earlier. */
export interface PastPayout {
  /** An approved loan; a generated one if missing. */
  loan?: { loan_id: string };
  /** `success`, or a refusal. */
  outcome?: Schemas['Outcome'];
  /** At least 2 seconds ago. */
  at?: Moment;
  /** Who paid the loan out. */
  by?: Who;
}

/** The payouts. */
export class Payouts {
  readonly #console: ConsoleClient;

  constructor(console: ConsoleClient) {
    this.#console = console;
  }

  /** All payouts, newest first, or those of one loan. */
  async list({ loan, settled }: { loan?: { loan_id: string }; settled?: boolean } = {}): Promise<Payout[]> {
    const query = { ...(loan && { loan_id: loan.loan_id }), ...(settled !== undefined && { settled }) };
    return bodyOf(this.#console.GET('/console/api/payouts', { params: { query } }));
  }

  /** The latest payout of a loan, once it has settled. */
  async settled(loan: { loan_id: string }, { wait = '20s' }: { wait?: Duration } = {}): Promise<Payout> {
    const query = { loan_id: loan.loan_id, settled: true, wait };
    const [latest] = await bodyOf(this.#console.GET('/console/api/payouts', { params: { query } }));
    if (!latest) throw new Error(`No payout of ${loan.loan_id} has settled within ${wait}`);
    return latest;
  }

  /** Adds a settled payout of the past, with its payment in mobile money's ledger. */
  async makePast({ loan, outcome, at, by }: PastPayout = {}): Promise<Payout> {
    const body = {
      ...(loan && { loan_id: loan.loan_id }),
      ...(outcome && { outcome }),
      ...(at && { created_at: written(at) }),
      ...(by && { user_email: emailOf(by) }),
    };
    return bodyOf(this.#console.POST('/console/api/payouts', { body }));
  }
}
