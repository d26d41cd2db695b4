import { failures } from '../failures';
import { signInTexts } from '../sign-in-texts';
import type { CodeRequest } from '../signed-out/useCodeRequest';
import { requestResetCode } from './reset';

/** The reset code, sent by SMS. */
export function resetCodeRequest(email: string): CodeRequest {
  const { sendingResetCode, resetCodeSent } = signInTexts();
  return {
    send: () => requestResetCode(email),
    sending: sendingResetCode,
    sent: resetCodeSent,
    failure: failures().resetCode,
  };
}
