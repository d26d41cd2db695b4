import { ApiError } from './api-error';

/** What the portal says when one thing that it tried fails. */
export interface FailureTexts {
  /** The field of the body that is read first; the other one is read where it is missing. */
  reads: 'error' | 'message';
  /** Sentences that replace texts of the server, by the server's text in lower case. */
  replacements?: Readonly<Record<string, string>>;
  /** When the server failed without a text. */
  withoutText: string;
  /** When no answer came, or none that could be read; `withoutText` by default. */
  withoutAnswer?: string;
  /** When the failure is not one of a call. */
  otherwise: string;
}

/** The failures that the specification words (REQ-375). A slice's own texts are in the slice. */
export const FAILURES = {
  signIn: {
    reads: 'error',
    replacements: {
      'user not found': 'Email not found. Please check your email address.',
      'invalid password': 'Incorrect password. Please try again.',
      'account is inactive': 'Your account is inactive. Please contact support.',
    },
    withoutText: 'Login failed. Please try again.',
    withoutAnswer: 'An unexpected error occurred. Please try again.',
    otherwise: 'Login failed. Please check your credentials and try again.',
  },
  signInByCode: { reads: 'message', withoutText: 'OTP login failed', otherwise: 'OTP login failed' },
  signInCode: {
    reads: 'message',
    withoutText: 'Failed to send OTP',
    otherwise: 'Failed to send verification code. Please try again.',
  },
  resetCode: {
    reads: 'message',
    withoutText: 'Failed to send reset code. Please try again.',
    otherwise: 'Failed to send reset code. Please try again.',
  },
  passwordReset: {
    reads: 'message',
    withoutText: 'Failed to reset password. Please try again.',
    otherwise: 'Failed to reset password. Please try again.',
  },
  payout: {
    reads: 'message',
    withoutText: 'Failed to disburse loan',
    otherwise: 'Disbursement failed. Please try again.',
  },
  dashboard: {
    reads: 'message',
    withoutText: 'Failed to fetch dashboard stats',
    otherwise: 'Failed to load dashboard data',
  },
  pendingLoans: {
    reads: 'message',
    withoutText: 'Failed to fetch pending disbursements',
    otherwise: 'Failed to load pending loans',
  },
  transactions: {
    reads: 'message',
    withoutText: 'Failed to fetch transactions',
    otherwise: 'Failed to load transactions',
  },
} as const satisfies Record<string, FailureTexts>;

/**
 * The sentence to show for what was thrown, an `ApiError` or anything else. `what` names one of `FAILURES`,
 * or is a slice's own texts.
 */
export function failureText(what: keyof typeof FAILURES | FailureTexts, thrown: unknown): string {
  const texts: FailureTexts = typeof what === 'string' ? FAILURES[what] : what;
  const { reads, replacements, withoutText, withoutAnswer, otherwise } = texts;
  if (thrown instanceof ApiError && thrown.kind === 'server') {
    const { serverError, serverMessage } = thrown;
    const text = reads === 'error' ? (serverError ?? serverMessage) : (serverMessage ?? serverError);
    return text ? replaced(text, replacements) : withoutText;
  }
  if (thrown instanceof ApiError) return withoutAnswer ?? withoutText;
  // The text of any other error is for programmers.
  return thrown instanceof Error ? (withoutAnswer ?? otherwise) : otherwise;
}

function replaced(text: string, replacements: FailureTexts['replacements'] = {}) {
  const known = Object.entries(replacements).find(([original]) => original === text.toLowerCase());
  return known?.[1] ?? text;
}
