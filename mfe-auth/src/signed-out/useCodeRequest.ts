import { useMutation } from '@tanstack/react-query';
import { type ActName, type FailureTexts, failureText, notify } from 'mfe-kit';
import { SIGN_IN_TOAST } from './toast';

/** A call that sends a one-time code, and its toasts. */
export interface CodeRequest {
  send: () => Promise<unknown>;
  sending: string;
  sent: string;
  failure: FailureTexts;
  /** The name of the person's act that the call is traced as, if it is traced. */
  act?: ActName;
}

export function useCodeRequest(
  { send, sending, sent, failure, act }: CodeRequest,
  { onSent, onFailed }: { onSent?: () => void; onFailed?: (error: unknown) => void } = {},
) {
  return useMutation({
    mutationFn: send,
    ...(act ? { meta: { act } } : {}),
    onMutate: () => notify({ type: 'loading', message: sending, duration: 0, key: SIGN_IN_TOAST }),
    onSuccess: () => {
      notify({ type: 'success', message: sent, key: SIGN_IN_TOAST });
      onSent?.();
    },
    onError: (error) => {
      notify({ type: 'error', message: failureText(failure, error), key: SIGN_IN_TOAST });
      onFailed?.(error);
    },
  });
}
