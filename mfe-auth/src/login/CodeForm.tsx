import { useMutation } from '@tanstack/react-query';
import { failureText, notify } from 'mfe-kit';
import { Button, Icon, type InputRef } from 'mfe-kit/ui';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { CODE_LENGTH, CodeField } from '../fields/CodeField';
import classes from '../gate/form.module.css';
import { focusWhole, useKeptFocus } from '../gate/useKeptFocus';
import { adviceOnCode, type Credentials, signInByCode } from './sign-in';
import { GATE_TOAST } from '../gate/toast';
import { welcome } from './welcome';
import { useCodeRequest } from './useCodeRequest';

/** The second half of sign-in by code. */
export function CodeForm({ credentials, onBack }: { credentials: Credentials; onBack: () => void }) {
  const [otp, setOtp] = useState('');
  const [advice, setAdvice] = useState<string>();
  const code = useRef<InputRef>(null);

  const verify = useMutation({
    mutationFn: () => signInByCode(credentials, otp),
    onSuccess: welcome,
    onError: (error) => {
      notify({ type: 'error', message: failureText('signInByCode', error), key: GATE_TOAST });
      setAdvice(adviceOnCode(error));
      if (adviceOnCode(error)) sendTo(() => focusWhole(code.current));
    },
  });
  const resend = useCodeRequest({ email: credentials.email });
  const isPending = verify.isPending || resend.isPending;
  const { form, sendTo } = useKeptFocus(isPending);

  useEffect(() => code.current?.focus(), []);

  function change(digits: string) {
    setAdvice(undefined);
    setOtp(digits);
  }

  return (
    <form
      ref={form}
      className={classes.form}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        setAdvice(undefined);
        verify.mutate();
      }}
    >
      <CodeField ref={code} value={otp} error={advice} disabled={isPending} onChange={change} />
      <Button
        type="primary"
        size="large"
        block
        htmlType="submit"
        disabled={isPending || otp.length !== CODE_LENGTH}
      >
        {verify.isPending ? 'Verifying...' : 'Verify & Sign in'}
      </Button>
      <div className={classes.ways}>
        <Button
          type="link"
          icon={<Icon name="back" />}
          disabled={isPending}
          onClick={() => {
            notify({ type: 'info', message: 'Switched back to regular login', key: GATE_TOAST });
            onBack();
          }}
        >
          Back to Login
        </Button>
        <Button
          type="link"
          disabled={isPending}
          onClick={() => {
            change('');
            sendTo(() => code.current?.focus());
            resend.mutate();
          }}
        >
          {resend.isPending ? 'Sending...' : 'Resend code'}
        </Button>
      </div>
    </form>
  );
}
