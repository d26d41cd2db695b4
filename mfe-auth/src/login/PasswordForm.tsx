import { useMutation } from '@tanstack/react-query';
import { failureText, notify } from 'mfe-kit';
import { Button, Checkbox } from 'mfe-kit/ui';
import { type SubmitEvent, useState } from 'react';
import { Link } from 'react-router';
import { failures } from '../failures';
import { EmailField } from '../fields/EmailField';
import { errorAt, type FieldError } from '../fields/field-error';
import { PasswordField } from '../fields/PasswordField';
import { signInTexts } from '../sign-in-texts';
import classes from '../signed-out/form.module.css';
import { useSignInState } from '../signed-out/navigation-state';
import { useKeptFocus } from '../signed-out/useKeptFocus';
import { SIGN_IN_TOAST } from '../signed-out/toast';
import { useCodeRequest } from '../signed-out/useCodeRequest';
import { type Credentials, fieldAtFault, isCodeRequired, missingForCode, signInByPassword } from './sign-in';
import { signInCodeRequest } from './sign-in-code';
import { welcome } from './welcome';

interface PasswordFormProps {
  credentials: Credentials;
  onChange: (change: Partial<Credentials>) => void;
  onCodeSent: () => void;
}

/** Sign-in by password, and the button that requests a code instead. */
export function PasswordForm({ credentials, onChange, onCodeSent }: PasswordFormProps) {
  const { from } = useSignInState();
  const texts = signInTexts();
  const [wrong, setWrong] = useState<FieldError<keyof Credentials> | null>(null);

  const signIn = useMutation({
    mutationFn: () => signInByPassword(credentials),
    meta: { act: 'sign in' },
    onSuccess: welcome,
    onError: (error) => {
      if (isCodeRequired(error)) {
        request.mutate();
        return;
      }
      notify({ type: 'error', message: failureText(failures().signIn, error), key: SIGN_IN_TOAST });
      setWrong(fieldAtFault(error));
    },
  });
  const request = useCodeRequest(signInCodeRequest(credentials), {
    onSent: onCodeSent,
    onFailed: (error) => setWrong(fieldAtFault(error)),
  });
  const isPending = signIn.isPending || request.isPending;
  const form = useKeptFocus(isPending, wrong);

  // The focus starts in the first field that is empty.
  const [isEmailKnown] = useState(credentials.email !== '');

  function change(given: Partial<Credentials>) {
    setWrong(null);
    onChange(given);
  }

  function requestCode() {
    const missing = missingForCode(credentials);
    setWrong(missing);
    if (!missing && form.current?.reportValidity()) request.mutate();
  }

  return (
    <form
      ref={form}
      className={classes.form}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        setWrong(null);
        signIn.mutate();
      }}
    >
      <EmailField
        autoFocus={!isEmailKnown}
        value={credentials.email}
        error={errorAt(wrong, 'email')}
        disabled={isPending}
        onChange={(email) => change({ email })}
      />
      <PasswordField
        autoFocus={isEmailKnown}
        label={texts.password}
        name="password"
        autoComplete="current-password"
        value={credentials.password}
        error={errorAt(wrong, 'password')}
        disabled={isPending}
        onChange={(password) => change({ password })}
      />
      <div className={`links ${classes.line}`}>
        <Checkbox disabled={isPending}>{texts.rememberMe}</Checkbox>
        <Link to="/password-reset" state={{ from, email: credentials.email }}>
          {texts.forgotPassword}
        </Link>
      </div>
      <div className={classes.actions}>
        <Button type="primary" size="large" block htmlType="submit" disabled={isPending}>
          {signIn.isPending ? texts.signingIn : texts.signIn}
        </Button>
        <Button
          size="large"
          block
          disabled={isPending || !credentials.email || !credentials.password}
          onClick={requestCode}
        >
          {request.isPending ? texts.sendingOtp : texts.signInByCode}
        </Button>
      </div>
    </form>
  );
}
