import { failures } from '../failures';
import { signInTexts } from '../sign-in-texts';
import type { CodeRequest } from '../signed-out/useCodeRequest';
import { requestSignInCode } from './sign-in';

/** The sign-in code, sent by email. */
export function signInCodeRequest(): CodeRequest {
  const { sendingCode, codeSent } = signInTexts();
  return {
    send: requestSignInCode,
    sending: sendingCode,
    sent: codeSent,
    failure: failures().signInCode,
  };
}
