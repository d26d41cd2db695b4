import { api, isLive } from 'mfe-kit';
import { failures } from '../failures';
import { signInTexts } from '../sign-in-texts';
import type { CodeRequest } from '../signed-out/useCodeRequest';
import type { Credentials } from './sign-in';

/**
 * The sign-in code, sent to the email address. The response is not read (REQ-105). The specification has the address
 * alone in the body; with live screens, an account may require codes, and is sent one after the right password only.
 */
export function signInCodeRequest({ email, password }: Credentials): CodeRequest {
  const { sendingCode, codeSent } = signInTexts();
  return {
    send: () =>
      api.POST('/api/v1/auth/request-signin-otp', { body: isLive() ? { email, password } : { email } }),
    sending: sendingCode,
    sent: codeSent,
    failure: failures().signInCode,
    act: 'sign in',
  };
}
