import { api, ApiError } from 'mfe-kit';
import { failures } from '../failures';
import type { FieldError } from '../fields/field-error';
import { signInTexts } from '../sign-in-texts';
import type { CodeRequest } from '../signed-out/useCodeRequest';

const MIN_PASSWORD_LENGTH = 6;

export interface NewPassword {
  otp: string;
  newPassword: string;
  confirmPassword: string;
}

/** The reset code, sent by SMS to the user's phone. The response is not read. */
export function resetCodeRequest(email: string): CodeRequest {
  const { sendingResetCode, resetCodeSent } = signInTexts();
  return {
    send: () => api.POST('/api/v1/auth/request-password-reset', { body: { email } }),
    sending: sendingResetCode,
    sent: resetCodeSent,
    failure: failures().resetCode,
  };
}

/** Sets the new password, which ends all of the user's sessions. The response is not read. */
export async function resetPassword(email: string, { otp, newPassword }: NewPassword): Promise<void> {
  await api.POST('/api/v1/auth/reset-password', { body: { email, otp, new_password: newPassword } });
}

/** The first validation error of the second step (REQ-152 to REQ-155). */
export function validationError({
  otp,
  newPassword,
  confirmPassword,
}: NewPassword): FieldError<keyof NewPassword> | null {
  const texts = signInTexts();
  if (!otp) return { field: 'otp', text: texts.pleaseEnterCode };
  if (!newPassword.trim()) return { field: 'newPassword', text: texts.pleaseEnterPassword };
  if (newPassword !== confirmPassword) return { field: 'confirmPassword', text: texts.noMatch };
  if (newPassword.length < MIN_PASSWORD_LENGTH) return { field: 'newPassword', text: texts.passwordTooShort };
  return null;
}

/** The field that the server rejected, with what to do about it. */
export function rejectedField(error: unknown): FieldError<keyof NewPassword> | null {
  if (!(error instanceof ApiError)) return null;
  if (error.status === 400) return { field: 'otp', text: signInTexts().checkCode };
  if (error.status === 422) return { field: 'newPassword', text: signInTexts().chooseAnother };
  return null;
}
