import { useMutation } from '@tanstack/react-query';
import { failureText, notify } from 'mfe-kit';
import { Button, type InputRef } from 'mfe-kit/ui';
import { type SubmitEvent, useRef, useState } from 'react';
import { failures } from '../failures';
import { CODE_LENGTH, CodeField } from '../fields/CodeField';
import { errorAt, type FieldError } from '../fields/field-error';
import { PasswordField } from '../fields/PasswordField';
import { signInTexts } from '../sign-in-texts';
import { CodeActions } from '../signed-out/CodeActions';
import classes from '../signed-out/form.module.css';
import { SIGN_IN_TOAST } from '../signed-out/toast';
import { useCodeRequest } from '../signed-out/useCodeRequest';
import { useKeptFocus } from '../signed-out/useKeptFocus';
import { type Credentials, fieldAtFault, missingForCode, rejectedField, signInByCode } from './sign-in';
import { signInCodeRequest } from './sign-in-code';
import { welcome } from './welcome';

interface CodeFormProps {
  credentials: Credentials;
  onPasswordChange: (password: string) => void;
  onBack: () => void;
}

/** The step of the code; it asks for the password too where it was lost by a reload, or is wrong. */
export function CodeForm({ credentials, onPasswordChange, onBack }: CodeFormProps) {
  const texts = signInTexts();
  const [otp, setOtp] = useState('');
  const [isPasswordAsked, setPasswordAsked] = useState(credentials.password === '');
  const [wrong, setWrong] = useState<FieldError<'otp' | keyof Credentials> | null>(null);
  const code = useRef<InputRef>(null);

  const verify = useMutation({
    mutationFn: () => signInByCode(credentials, otp),
    meta: { act: 'sign in' },
    onSuccess: welcome,
    onError: (error) => {
      notify({ type: 'error', message: failureText(failures().signInByCode, error), key: SIGN_IN_TOAST });
      pointAt(rejectedField(error));
    },
  });
  const resend = useCodeRequest(signInCodeRequest(credentials), {
    // The password may have been changed since it was sent for the first code.
    onFailed: (error) => pointAt(fieldAtFault(error)),
  });
  const isPending = verify.isPending || resend.isPending;
  const form = useKeptFocus(isPending, wrong);

  function change(digits: string) {
    setWrong(null);
    setOtp(digits);
  }

  function pointAt(error: typeof wrong) {
    setWrong(error);
    if (error?.field === 'password') setPasswordAsked(true);
  }

  function requestAnother() {
    const missing = missingForCode(credentials);
    if (missing) {
      pointAt(missing);
      return;
    }
    change('');
    code.current?.focus();
    resend.mutate();
  }

  return (
    <form
      ref={form}
      className={classes.form}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        setWrong(null);
        verify.mutate();
      }}
    >
      <CodeField
        ref={code}
        value={otp}
        error={errorAt(wrong, 'otp')}
        disabled={isPending}
        onChange={change}
      />
      {isPasswordAsked ? (
        <>
          {/* Tells password managers which account the password belongs to. */}
          <input hidden readOnly name="email" autoComplete="username" value={credentials.email} />
          <PasswordField
            label={texts.password}
            name="password"
            autoComplete="current-password"
            value={credentials.password}
            error={errorAt(wrong, 'password')}
            disabled={isPending}
            onChange={(typed) => {
              setWrong(null);
              onPasswordChange(typed);
            }}
          />
        </>
      ) : null}
      <Button
        type="primary"
        size="large"
        block
        htmlType="submit"
        disabled={isPending || otp.length !== CODE_LENGTH || !credentials.password}
      >
        {verify.isPending ? texts.verifying : texts.verify}
      </Button>
      <CodeActions
        back={texts.backToLogin}
        backMessage={texts.backAtLogin}
        isDisabled={isPending}
        isSending={resend.isPending}
        onBack={onBack}
        onResend={requestAnother}
      />
    </form>
  );
}
