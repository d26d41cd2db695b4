import type { Schema } from '../api/schema';

/** A pending loan as the provider sends it, with the fields given. */
export function pendingLoan(given: Partial<Schema<'PendingLoan'>> = {}): Schema<'PendingLoan'> {
  return {
    loan_id: 'LN-2026-00917',
    customer_id: 'CUS-00481',
    customer_first_name: 'Wanjiku',
    customer_last_name: 'Kamau',
    customer_phone_number: '+254712345678',
    customer_id_number: '28461937',
    customer_nickname: null,
    customer_gender: 'Female',
    customer_status: 'ACTIVE',
    customer_account_id: 'ACC-00481',
    account_number: '0110248461937',
    account_status: 'ACTIVE',
    credit_score: 712,
    risk_level: 'LOW',
    total_loan_amount: 25_000,
    interest_rate: 12,
    loan_status: 'APPROVED',
    disbursement_status: 'NOT_STARTED',
    approved_at: '2026-11-12T08:15:30.000Z',
    approver_id: 'USR-2',
    approver_name: 'Achieng Otieno',
    approver_email: 'supervisor@mkopo.test',
    remaining_balance: 28_000,
    notes: null,
    loan_created_at: '2026-11-10T06:00:00.000Z',
    loan_updated_at: '2026-11-12T08:15:30.000Z',
    term: 6,
    purpose: 'Stock for shop',
    ...given,
  };
}

/** A disbursement record as the provider sends it. */
export function disbursementRecord(
  given: Partial<Schema<'DisbursementRecord'>> = {},
): Schema<'DisbursementRecord'> {
  return {
    id: 'PAY-00001',
    loan_id: 'LN-2026-00917',
    amount: 25_000,
    status: 'COMPLETED',
    created_at: '2026-11-14T09:30:00.000Z',
    mpesa_ref: 'UKE7Q2M9XA',
    transaction_id: '019a8123-0000-7000-8000-000000000001',
    phone: '+254712345678',
    error_message: null,
    processed_at: '2026-11-14T09:30:02.000Z',
    user_id: 'USR-3',
    user_first_name: 'Achieng',
    user_last_name: 'Otieno',
    user_email: 'agent@mkopo.test',
    customer_id: 'CUS-00481',
    customer_first_name: 'Wanjiku',
    customer_last_name: 'Kamau',
    customer_id_number: '28461937',
    customer_phone_number: '+254712345678',
    approver_id: 'USR-2',
    approver_name: 'Peter Njoroge',
    approver_email: 'supervisor@mkopo.test',
    ...given,
  };
}

/** The provider's answer to a settled payout. */
export function disbursement(given: Partial<Schema<'Disbursement'>> = {}): Schema<'Disbursement'> {
  return {
    ...disbursementRecord(),
    loan_status: 'DISBURSED',
    disbursement_status: 'COMPLETED',
    disbursed_at: '2026-11-14T09:30:02.000Z',
    disbursed_by: 'Achieng Otieno',
    ...given,
  };
}

/** The provider's answer to a sign-in. */
export function signedIn(given: Partial<Schema<'SignedIn'>['user']> = {}): Schema<'SignedIn'> {
  return {
    user: {
      token: 'token-1',
      id: 'USR-3',
      username: 'Achieng',
      name: 'Achieng Otieno',
      email: 'agent@mkopo.test',
      role: 'agent',
      ...given,
    },
  };
}

/** The signed-in user as the provider knows it. */
export function currentUser(given: Partial<Schema<'CurrentUser'>> = {}): Schema<'CurrentUser'> {
  return {
    id: 'USR-3',
    username: 'Achieng',
    name: 'Achieng Otieno',
    email: 'agent@mkopo.test',
    role: 'agent',
    phone_number: '+254722000003',
    created_at: '2026-01-05T06:00:00.000Z',
    ...given,
  };
}

/** The preferences of a person and the deployment's rules. */
export function preferences(
  given: Partial<Schema<'PreferencesAndRules'>> = {},
): Schema<'PreferencesAndRules'> {
  return {
    language: 'en',
    time_zone: null,
    notify_by_email: false,
    notify_by_sms: false,
    rules: { maximum_amount: null, confirmation_required: true, auto_retry: false, retry_attempts: 3 },
    ...given,
  };
}

/** The deployment's rules, as admins see them. */
export function portalRules(given: Partial<Schema<'PortalRules'>> = {}): Schema<'PortalRules'> {
  return {
    session_minutes: 480,
    longest_session_minutes: 480,
    maximum_amount: null,
    confirmation_required: true,
    auto_retry: false,
    retry_attempts: 3,
    ...given,
  };
}

/** The profile of the signed-in person. */
export function profile(given: Partial<Schema<'Profile'>> = {}): Schema<'Profile'> {
  return {
    ...currentUser(),
    first_name: 'Achieng',
    last_name: 'Otieno',
    password_changed_at: '2026-10-02T09:00:00.000Z',
    sign_in_code_required: false,
    ...given,
  };
}

/** Something that a person should know. */
export function notification(given: Partial<Schema<'Notification'>> = {}): Schema<'Notification'> {
  return {
    id: 'N-1',
    kind: 'payout_completed',
    at: '2026-11-14T09:30:02.000Z',
    loan_id: 'LN-2026-00917',
    customer_name: 'Wanjiku Kamau',
    amount: 25_000,
    error_message: null,
    is_read: false,
    ...given,
  };
}

/** What a person should know: nothing, with the fields given. */
export function notifications(given: Partial<Schema<'Notifications'>> = {}): Schema<'Notifications'> {
  return { unread: 0, unread_approved: 0, approved: 0, read_until: null, notifications: [], ...given };
}
