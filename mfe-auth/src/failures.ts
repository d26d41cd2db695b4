import type { FailureTexts } from 'mfe-kit';

/** The texts of failures in this slice (REQ-375). */
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
} as const satisfies Record<string, FailureTexts>;
