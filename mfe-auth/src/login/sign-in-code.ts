import { FAILURES } from '../failures';
import type { CodeRequest } from '../signed-out/useCodeRequest';
import { requestSignInCode } from './sign-in';

/** The sign-in code, sent by email. */
export const signInCodeRequest: CodeRequest = {
  send: requestSignInCode,
  sending: 'Sending verification code...',
  sent: 'Verification code sent! Please check your email.',
  failure: FAILURES.signInCode,
};
