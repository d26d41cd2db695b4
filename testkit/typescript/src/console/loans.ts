import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { Verbs } from './verbs';

/** An approved loan that can be paid out. */
export type Loan = Schemas['PendingLoan'];

/** Values for a loan, with the names of the contract; what is missing is generated. */
export type NewLoan = NonNullable<Schemas['LoansToApprove']['loan']> & {
  /** In KES; short for `total_loan_amount`. */
  amount?: number;
};

/** The loans that wait to be paid out. */
export class Loans extends Verbs {
  /** Approves a loan. */
  async approve(loan: NewLoan = {}): Promise<Loan> {
    const [approved] = await this.approveMany(1, loan);
    if (!approved) throw new Error('The server approved no loan');
    return approved;
  }

  /** Approves up to a thousand loans at once. */
  async approveMany(count: number, { amount, ...loan }: NewLoan = {}): Promise<Loan[]> {
    const values = { ...loan, ...(amount !== undefined && { total_loan_amount: amount }) };
    return bodyOf(this.console.POST('/console/api/loans', { body: { count, loan: values } }));
  }
}
