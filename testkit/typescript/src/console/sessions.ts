import { randomUUID } from 'node:crypto';
import { bodyOf } from '../call-failed';
import { type ConsoleClient, type PortalClient, portalClient, type Schemas, type Target } from '../clients';
import { emailOf, type Who } from '../who';
import type { Loan } from './loans';
import type { Payout, Payouts } from './payouts';
import { Verbs } from './verbs';

/** Somebody who is signed in to the portal's API. */
export class Session {
  /** Every call of the portal's API as this user, typed. */
  readonly portal: PortalClient;
  readonly token: string;
  readonly user: Schemas['SignedIn']['user'];
  readonly #payouts: Payouts;

  constructor(target: Target, user: Schemas['SignedIn']['user'], payouts: Payouts) {
    this.portal = portalClient({ ...target, token: user.token });
    this.token = user.token;
    this.user = user;
    this.#payouts = payouts;
  }

  /** Pays a loan out; fails with `CallFailed` if it is refused. */
  async payOut(
    loan: Pick<Loan, 'loan_id' | 'total_loan_amount' | 'customer_phone_number'>,
    { idempotencyKey = randomUUID() }: { idempotencyKey?: string } = {},
  ): Promise<Schemas['Disbursement']> {
    return this.#payouts.attempt(loan.loan_id, async () =>
      bodyOf(
        this.portal.POST('/api/v1/disbursements/{loanId}/disburse', {
          params: { path: { loanId: loan.loan_id }, header: { 'Idempotency-Key': idempotencyKey } },
          body: { agent_id: 1, amount: loan.total_loan_amount, phone_number: loan.customer_phone_number },
        }),
      ),
    );
  }

  /** The loans that wait to be paid out. */
  async pendingLoans(): Promise<Loan[]> {
    return bodyOf(this.portal.GET('/api/v1/disbursements/pending'));
  }

  /** The history of payouts. */
  async history(): Promise<Payout[]> {
    return bodyOf(this.portal.GET('/api/v1/disbursement-records'));
  }
}

/** The sessions of the portal's users. */
export class Sessions extends Verbs {
  readonly #target: Target;
  readonly #passwordOf: (who: Who) => string;
  readonly #payouts: () => Payouts;

  constructor(
    console: ConsoleClient,
    target: Target,
    passwordOf: (who: Who) => string,
    payouts: () => Payouts,
  ) {
    super(console);
    this.#target = target;
    this.#passwordOf = passwordOf;
    this.#payouts = payouts;
  }

  /** Signs in to the portal's API, without a browser. */
  async open(who: Who, password = this.#passwordOf(who)): Promise<Session> {
    const body = { email: emailOf(who), password };
    const { user } = await bodyOf(portalClient(this.#target).POST('/api/v1/auth/login', { body }));
    return new Session(this.#target, user, this.#payouts());
  }

  /** Ends the sessions of one account; returns how many there were. */
  async end(who: Who): Promise<number> {
    const params = { path: { email: emailOf(who) } };
    const { ended } = await bodyOf(this.console.POST('/console/api/staff/{email}/expire', { params }));
    return ended;
  }

  /** Ends everybody's sessions; returns how many there were. */
  async endAll(): Promise<number> {
    const { ended } = await bodyOf(this.console.POST('/console/api/staff/expire'));
    return ended;
  }
}
