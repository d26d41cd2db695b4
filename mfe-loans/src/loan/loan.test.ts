import { pendingLoan } from 'mfe-kit/testing';
import { expect, test } from 'vitest';
import { loanFrom, termOf, type WireLoan } from './loan';

const wire = pendingLoan({
  loan_id: 'LN-1',
  customer_id: 'CUS-1',
  customer_nickname: 'Shiku',
  customer_account_id: 'ACC-1',
  account_number: '0110',
  account_status: 'OPEN',
  interest_rate: 12.5,
  approver_name: 'Peter Njoroge',
  approver_email: 'peter@mkopo.test',
  remaining_balance: 28_125,
  notes: 'Second loan',
  loan_updated_at: '2026-11-12T08:15:31.000Z',
});

const loan = loanFrom(wire);

test('REQ-346 REQ-347 REQ-348 REQ-350 REQ-351 a row becomes a loan, field by field', () => {
  const paid = {
    mpesa_ref: 'UKE7Q2M9XA',
    disbursed_at: '2026-11-14T09:30:02.000Z',
    disbursed_by: 'Achieng',
  };
  expect(loanFrom({ ...wire, ...paid })).toEqual({
    id: 'LN-1',
    customerId: 'CUS-1',
    customer: {
      id: 'CUS-1',
      name: 'Wanjiku Kamau',
      firstName: 'Wanjiku',
      lastName: 'Kamau',
      phoneNumber: '+254712345678',
      nationalId: '28461937',
      nickname: 'Shiku',
      gender: 'Female',
      status: 'ACTIVE',
    },
    customerAccount: {
      id: 'ACC-1',
      accountNumber: '0110',
      status: 'OPEN',
      creditScore: 712,
      riskLevel: 'LOW',
    },
    amount: 25_000,
    term: 6,
    interestRate: 12.5,
    purpose: 'Stock for shop',
    status: 'approved',
    disbursementStatus: 'NOT_STARTED',
    approvedDate: '2026-11-12T08:15:30.000Z',
    approvedBy: 'Peter Njoroge',
    approverName: 'Peter Njoroge',
    approverEmail: 'peter@mkopo.test',
    remainingBalance: 28_125,
    notes: 'Second loan',
    disbursementDate: '2026-11-14T09:30:02.000Z',
    mpesaReference: 'UKE7Q2M9XA',
    disbursedBy: 'Achieng',
    createdAt: '2026-11-10T06:00:00.000Z',
    updatedAt: '2026-11-12T08:15:31.000Z',
  });
});

test('REQ-349 amount and interest rate are numbers, even if the provider sends strings', () => {
  const asText = { ...wire, total_loan_amount: '25000.00', interest_rate: '12.5' } as unknown as WireLoan;
  expect(loanFrom(asText)).toMatchObject({ amount: 25_000, interestRate: 12.5 });
});

test.for(['APPROVED', 'DISBURSED', 'REJECTED', 'WRITTEN_OFF'] as const)(
  'REQ-352 the status %s is kept in lower case',
  (status) => {
    expect(loanFrom({ ...wire, loan_status: status } as WireLoan).status).toBe(status.toLowerCase());
  },
);

test.for([
  [6, '6 months'],
  [1, '1 month'],
  [0, '1 month'],
  [null, '1 month'],
] as const)('REQ-235 REQ-353 a term of %s is shown as %s', ([term, shown]) => {
  expect(termOf(loanFrom({ ...wire, term }))).toBe(shown);
});

test('fields of any other type become what screens expect', () => {
  const odd = {
    loan_id: 917,
    customer_id: 481,
    customer_first_name: null,
    customer_last_name: { first: 'Kamau' },
    customer_phone_number: 254712345678,
    customer_id_number: 28461937,
    total_loan_amount: null,
    interest_rate: {},
    loan_status: 300,
    disbursement_status: true,
    approved_at: 1_762_935_330_000,
    loan_created_at: 1_762_935_330,
    term: '6',
    purpose: ['Stock'],
  } as unknown as WireLoan;
  expect(loanFrom(odd)).toMatchObject({
    id: '917',
    customerId: '481',
    customer: { name: '', phoneNumber: '254712345678', nationalId: '28461937' },
    amount: null,
    interestRate: null,
    status: '300',
    approvedDate: '2025-11-12T08:15:30.000Z',
    createdAt: '2025-11-12T08:15:30.000Z',
    disbursementStatus: '',
    term: 6,
    purpose: null,
  });
});

test('a row with missing or extra fields is still a loan', () => {
  expect(loanFrom({})).toMatchObject({
    id: '',
    amount: null,
    status: '',
    purpose: null,
    customer: { name: '', phoneNumber: '' },
  });
  expect(loanFrom({ ...wire, colour: 'green' } as WireLoan)).toEqual(loan);
  expect(loanFrom({ customer_first_name: 'Wanjiku' }).customer.name).toBe('Wanjiku');
});
