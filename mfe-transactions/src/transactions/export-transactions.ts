import { localPhone, now, portalSettings } from 'mfe-kit';
import { csvTime, saveCsv } from '../csv/csv';
import { fullName, type Transaction } from '../transaction/transaction';
import { factsOf } from './select-transactions';

export function exportTransactions(transactions: readonly Transaction[]): void {
  const day = csvTime(now().toISOString()).slice(0, 10);
  saveCsv(`transactions-${day}.csv`, [
    [
      'id',
      'loan_id',
      `date (${portalSettings().timeZone})`,
      'customer',
      'phone',
      'national_id',
      'amount_kes',
      'status',
      'reference',
      'approved_by',
      'disbursed_by',
      'reason',
    ],
    ...transactions.map((one) => {
      const { approver, disburser } = factsOf(one);
      return [
        one.id,
        one.loanId,
        csvTime(one.date),
        fullName(one.customer),
        localPhone(one.customer.phoneNumber),
        one.customer.idNumber,
        one.amount ?? '',
        one.status,
        one.reference ?? '',
        approver,
        disburser,
        one.errorMessage ?? '',
      ];
    }),
  ]);
}
