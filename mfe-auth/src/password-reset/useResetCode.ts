import { useMutation } from '@tanstack/react-query';
import { dismissNotification, failureText, notify } from 'mfe-kit';
import { requestResetCode } from './reset';

/** One toast at a time tells of the reset: the latest, in the place of the one before. */
export const RESET_TOAST = 'password-reset';

/** Has a reset code sent, and says how that goes. */
export function useResetCode({
  email,
  onSent,
  onFailed,
}: {
  email: string;
  onSent?: () => void;
  onFailed?: (error: unknown) => void;
}) {
  return useMutation({
    mutationFn: () => requestResetCode(email),
    onMutate: () =>
      notify({ type: 'loading', message: 'Sending reset code...', duration: 0, key: RESET_TOAST }),
    onSuccess: () => {
      dismissNotification(RESET_TOAST);
      notify({
        type: 'success',
        message: 'Password reset code sent! Please check your SMS.',
        key: RESET_TOAST,
      });
      onSent?.();
    },
    onError: (error) => {
      dismissNotification(RESET_TOAST);
      notify({ type: 'error', message: failureText('resetCode', error), key: RESET_TOAST });
      onFailed?.(error);
    },
  });
}
