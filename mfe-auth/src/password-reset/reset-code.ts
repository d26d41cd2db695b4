import { FAILURES } from '../failures';
import type { CodeRequest } from '../signed-out/useCodeRequest';
import { requestResetCode } from './reset';

/** The reset code, sent by SMS. */
export const resetCodeRequest: CodeRequest = {
  send: requestResetCode,
  sending: 'Sending reset code...',
  sent: 'Password reset code sent! Please check your SMS.',
  failure: FAILURES.resetCode,
};
