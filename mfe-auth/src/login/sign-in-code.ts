import { failures } from '../failures';
import { signInTexts } from '../sign-in-texts';
import type { CodeRequest } from '../signed-out/useCodeRequest';
import { type Credentials, requestSignInCode } from './sign-in';

export function signInCodeRequest(credentials: Credentials): CodeRequest {
  const { sendingCode, codeSent } = signInTexts();
  return {
    send: () => requestSignInCode(credentials),
    sending: sendingCode,
    sent: codeSent,
    failure: failures().signInCode,
    act: 'sign in',
  };
}
