import { disbursementRecord } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { transactionFrom } from './transaction';

test('REQ-354 REQ-355 REQ-356 REQ-357 REQ-358 a record becomes a transaction, field by field', () => {
  expect(
    transactionFrom(
      disbursementRecord({
        id: 'PAY-1',
        loan_id: 'LN-1',
        status: 'FAILED',
        phone: '+254700000001',
        error_message: 'The balance is insufficient for the transaction.',
        customer_id: 'CUS-1',
      }),
    ),
  ).toEqual({
    id: 'PAY-1',
    loanId: 'LN-1',
    amount: 25_000,
    type: 'disbursement',
    status: 'failed',
    date: '2026-11-14T09:30:00.000Z',
    reference: 'UKE7Q2M9XA',
    mpesaRef: 'UKE7Q2M9XA',
    transactionId: '019a8123-0000-7000-8000-000000000001',
    phone: '+254700000001',
    errorMessage: 'The balance is insufficient for the transaction.',
    processedAt: '2026-11-14T09:30:02.000Z',
    performedBy: { id: 'USR-3', username: 'Achieng Otieno', email: 'agent@mkopo.test', role: 'agent' },
    customer: {
      id: 'CUS-1',
      firstName: 'Wanjiku',
      lastName: 'Kamau',
      idNumber: '28461937',
      phoneNumber: '+254712345678',
    },
    customer_first_name: 'Wanjiku',
    customer_last_name: 'Kamau',
    customer_phone_number: '+254712345678',
    customer_id_number: '28461937',
    approver_id: 'USR-2',
    approver_name: 'Peter Njoroge',
    approver_email: 'supervisor@mkopo.test',
    searchText: 'pay-1\nln-1\nuke7q2m9xa\nachieng otieno',
  });
});

test('fields of any other type become what screens expect', () => {
  const odd = {
    id: 1,
    loan_id: 917,
    amount: '25000.00',
    created_at: 1_762_935_330,
    processed_at: 1_762_935_330_000,
    status: 300,
    mpesa_ref: 0.5,
    user_first_name: null,
    user_last_name: {},
    customer_first_name: ['Wanjiku'],
    customer_id_number: 28461937,
    customer_phone_number: 254712345678,
  } as unknown as Parameters<typeof transactionFrom>[0];
  expect(transactionFrom(odd)).toMatchObject({
    id: '1',
    loanId: '917',
    amount: 25_000,
    date: '2025-11-12T08:15:30.000Z',
    processedAt: '2025-11-12T08:15:30.000Z',
    status: 'pending',
    reference: '0.5',
    performedBy: { username: '' },
    customer: { firstName: '', idNumber: '28461937', phoneNumber: '254712345678' },
  });
});
