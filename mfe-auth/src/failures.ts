import { type FailureTexts, isLive } from 'mfe-kit';
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
    signInCode: {
      reads: 'message',
      // Only live screens send the password; without them, the server's text is shown unchanged (REQ-108).
      ...(isLive() ? { replacements: { 'invalid password': texts.wrongPassword } } : {}),
      withoutText: texts.otpNotSent,
      otherwise: texts.codeNotSent,
    },
    resetCode: { reads: 'message', withoutText: texts.resetCodeNotSent, otherwise: texts.resetCodeNotSent },
    passwordReset: { reads: 'message', withoutText: texts.notReset, otherwise: texts.notReset },
  } satisfies Record<string, FailureTexts>;
}
