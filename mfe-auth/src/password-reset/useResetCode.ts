import { useMutation } from '@tanstack/react-query';
import { dismissNotification, failureText, notify } from 'mfe-kit';
import { GATE_TOAST } from '../gate/toast';
import { requestResetCode } from './reset';

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
      notify({ type: 'loading', message: 'Sending reset code...', duration: 0, key: GATE_TOAST }),
    onSuccess: () => {
      dismissNotification(GATE_TOAST);
      notify({
        type: 'success',
        message: 'Password reset code sent! Please check your SMS.',
        key: GATE_TOAST,
      });
      onSent?.();
    },
    onError: (error) => {
      dismissNotification(GATE_TOAST);
      notify({ type: 'error', message: failureText('resetCode', error), key: GATE_TOAST });
      onFailed?.(error);
    },
  });
}
