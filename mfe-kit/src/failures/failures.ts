import { ApiError } from '../api/api-error';

/** What the portal says when one thing that it tried fails. */
interface Failure {
  /** The field of the body that is read first; the other one stands in for it. */
  reads: 'error' | 'message';
  /** What a server's text, in lower case, means to the person at the screen. */
  means?: Readonly<Record<string, string>>;
  /** Said when the server failed without a text. */
  unnamed: string;
  /** Said when no server answered, or nothing that could be read; `unnamed` where it is left out. */
  unanswered?: string;
  /** Said by the screen about a failure that has no words of its own. */
  wordless: string;
}

/** Every failure of a call that is shown, with its words: they stand here and nowhere else (REQ-375). */
export const FAILURES = {
  signIn: {
    reads: 'error',
    means: {
      'user not found': 'Email not found. Please check your email address.',
      'invalid password': 'Incorrect password. Please try again.',
      'account is inactive': 'Your account is inactive. Please contact support.',
    },
    unnamed: 'Login failed. Please try again.',
    unanswered: 'An unexpected error occurred. Please try again.',
    wordless: 'Login failed. Please check your credentials and try again.',
  },
  signInByCode: { reads: 'message', unnamed: 'OTP login failed', wordless: 'OTP login failed' },
  signInCode: {
    reads: 'message',
    unnamed: 'Failed to send OTP',
    wordless: 'Failed to send verification code. Please try again.',
  },
  resetCode: {
    reads: 'message',
    unnamed: 'Failed to send reset code. Please try again.',
    wordless: 'Failed to send reset code. Please try again.',
  },
  passwordReset: {
    reads: 'message',
    unnamed: 'Failed to reset password. Please try again.',
    wordless: 'Failed to reset password. Please try again.',
  },
  payout: {
    reads: 'message',
    unnamed: 'Failed to disburse loan',
    wordless: 'Disbursement failed. Please try again.',
  },
  dashboard: {
    reads: 'message',
    unnamed: 'Failed to fetch dashboard stats',
    wordless: 'Failed to load dashboard data',
  },
  pendingLoans: {
    reads: 'message',
    unnamed: 'Failed to fetch pending disbursements',
    wordless: 'Failed to load pending loans',
  },
  transactions: {
    reads: 'message',
    unnamed: 'Failed to fetch transactions',
    wordless: 'Failed to load transactions',
  },
} as const satisfies Record<string, Failure>;

/** The sentence to show for what was thrown, an `ApiError` or anything else. */
export function failureText(what: keyof typeof FAILURES, thrown: unknown): string {
  const { reads, means, unnamed, unanswered, wordless }: Failure = FAILURES[what];
  if (thrown instanceof ApiError && thrown.kind === 'server') {
    const { serverError, serverMessage } = thrown;
    const text = reads === 'error' ? (serverError ?? serverMessage) : (serverMessage ?? serverError);
    return text ? meaningOf(text, means) : unnamed;
  }
  if (thrown instanceof ApiError) return unanswered ?? unnamed;
  // Whatever else was thrown has words for programmers only.
  return thrown instanceof Error ? (unanswered ?? wordless) : wordless;
}

function meaningOf(text: string, means: Failure['means'] = {}) {
  const known = Object.entries(means).find(([said]) => said === text.toLowerCase());
  return known?.[1] ?? text;
}
