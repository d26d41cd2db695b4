import type { FailureTexts } from 'mfe-kit';
import { signInTexts } from './sign-in-texts';

/** The texts of failures in this slice (REQ-375). */
export function failures() {
  const texts = signInTexts();
  return {
    signIn: {
      reads: 'error',
      replacements: {
        'user not found': texts.wrongEmail,
        'invalid password': texts.wrongPassword,
        'account is inactive': texts.inactive,
      },
      withoutText: texts.loginFailed,
      withoutAnswer: texts.loginUnexpected,
      otherwise: texts.loginRefused,
    },
    signInByCode: { reads: 'message', withoutText: texts.otpFailed, otherwise: texts.otpFailed },
    signInCode: { reads: 'message', withoutText: texts.otpNotSent, otherwise: texts.codeNotSent },
    resetCode: { reads: 'message', withoutText: texts.resetCodeNotSent, otherwise: texts.resetCodeNotSent },
    passwordReset: { reads: 'message', withoutText: texts.notReset, otherwise: texts.notReset },
  } satisfies Record<string, FailureTexts>;
}
