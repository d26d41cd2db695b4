import { useMutation } from '@tanstack/react-query';
import { failureText, notify } from 'mfe-kit';
import { requestSignInCode } from './sign-in';
import { GATE_TOAST } from '../gate/toast';

/** Has a sign-in code sent, and says how that goes. */
export function useCodeRequest({
  email,
  onSent,
  onFailed,
}: {
  email: string;
  onSent?: () => void;
  onFailed?: (error: unknown) => void;
}) {
  return useMutation({
    mutationFn: () => requestSignInCode(email),
    onMutate: () =>
      notify({
        type: 'loading',
        message: 'Sending verification code...',
        duration: 0,
        key: GATE_TOAST,
      }),
    onSuccess: () => {
      notify({
        type: 'success',
        message: 'Verification code sent! Please check your email.',
        key: GATE_TOAST,
      });
      onSent?.();
    },
    onError: (error) => {
      notify({ type: 'error', message: failureText('signInCode', error), key: GATE_TOAST });
      onFailed?.(error);
    },
  });
}
