import { api, ApiError } from 'mfe-kit';
import type { FieldError } from '../fields/field-error';

/** Characters that a new password has at least. */
const SHORTEST_PASSWORD = 6;

/** What the second step asks for. */
export interface NewPassword {
  otp: string;
  newPassword: string;
  confirmPassword: string;
}

/** Has a reset code sent by SMS to the user's phone. */
export async function requestResetCode(email: string): Promise<void> {
  await api.POST('/api/v1/auth/request-password-reset', { body: { email } });
}

/** Sets the new password, which ends all of the user's sessions. */
export async function resetPassword(email: string, { otp, newPassword }: NewPassword): Promise<void> {
  await api.POST('/api/v1/auth/reset-password', { body: { email, otp, new_password: newPassword } });
}

/** What stands against sending the second step, the first thing first (REQ-152 to REQ-155). */
export function problemWith({
  otp,
  newPassword,
  confirmPassword,
}: NewPassword): FieldError<keyof NewPassword> | null {
  if (!otp) return { field: 'otp', text: 'Please enter the verification code' };
  if (!newPassword.trim()) return { field: 'newPassword', text: 'Please enter your new password' };
  if (newPassword !== confirmPassword) return { field: 'confirmPassword', text: 'Passwords do not match' };
  if (newPassword.length < SHORTEST_PASSWORD)
    return { field: 'newPassword', text: 'Password must be at least 6 characters long' };
  return null;
}

/** The field that a refusal of the second step is about, with what to do there. */
export function fieldToMend(error: unknown): FieldError<keyof NewPassword> | null {
  if (!(error instanceof ApiError)) return null;
  if (error.status === 400) return { field: 'otp', text: 'Check the code, or have a new one sent.' };
  if (error.status === 422) return { field: 'newPassword', text: 'Choose another password.' };
  return null;
}
