import { useMutation } from '@tanstack/react-query';
import { failureText, notify } from 'mfe-kit';
import { Button, type InputRef } from 'mfe-kit/ui';
import { type SubmitEvent, useLayoutEffect, useRef, useState } from 'react';
import { failures } from '../failures';
import { CODE_LENGTH, CodeField } from '../fields/CodeField';
import { signInTexts } from '../sign-in-texts';
import { CodeActions } from '../signed-out/CodeActions';
import classes from '../signed-out/form.module.css';
import { SIGN_IN_TOAST } from '../signed-out/toast';
import { useCodeRequest } from '../signed-out/useCodeRequest';
import { focusAndSelect, useKeptFocus } from '../signed-out/useKeptFocus';
import { adviceOnCode, adviceOnPassword, type Credentials, signInByCode } from './sign-in';
import { signInCodeRequest } from './sign-in-code';
import { welcome } from './welcome';

export function CodeForm({ credentials, onBack }: { credentials: Credentials; onBack: () => void }) {
  const texts = signInTexts();
  const [otp, setOtp] = useState('');
  const [advice, setAdvice] = useState<string>();
  const code = useRef<InputRef>(null);

  const verify = useMutation({
    mutationFn: () => signInByCode(credentials, otp),
    meta: { act: 'sign in' },
    onSuccess: welcome,
    onError: (error) => {
      notify({ type: 'error', message: failureText(failures().signInByCode, error), key: SIGN_IN_TOAST });
      setAdvice(adviceOnCode(error));
      if (adviceOnCode(error)) sendTo(() => focusAndSelect(code.current));
    },
  });
  const resend = useCodeRequest(signInCodeRequest(credentials), {
    // The password may have been changed since it was sent for the first code.
    onFailed: (error) => setAdvice(adviceOnPassword(error)),
  });
  const isPending = verify.isPending || resend.isPending;
  const { form, sendTo } = useKeptFocus(isPending);

  useLayoutEffect(() => code.current?.focus(), []);

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
        {verify.isPending ? texts.verifying : texts.verify}
      </Button>
      <CodeActions
        back={texts.backToLogin}
        backMessage={texts.backAtLogin}
        isDisabled={isPending}
        isSending={resend.isPending}
        onBack={onBack}
        onResend={() => {
          change('');
          sendTo(() => code.current?.focus());
          resend.mutate();
        }}
      />
    </form>
  );
}
