import { useMutation } from '@tanstack/react-query';
import { dismissNotification, failureText, notify, session } from 'mfe-kit';
import { Button, type InputRef } from 'mfe-kit/ui';
import { type SubmitEvent, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { failures } from '../failures';
import { CODE_LENGTH, CodeField } from '../fields/CodeField';
import { errorAt, type FieldError } from '../fields/field-error';
import { PasswordField } from '../fields/PasswordField';
import { signInTexts } from '../sign-in-texts';
import { CodeActions } from '../signed-out/CodeActions';
import classes from '../signed-out/form.module.css';
import { useSignInState } from '../signed-out/navigation-state';
import { SIGN_IN_TOAST } from '../signed-out/toast';
import { useCodeRequest } from '../signed-out/useCodeRequest';
import { useKeptFocus } from '../signed-out/useKeptFocus';
import { rejectedField, type NewPassword, resetCodeRequest, resetPassword, validationError } from './reset';

const EMPTY: NewPassword = { otp: '', newPassword: '', confirmPassword: '' };

export function ResetStep({ email, onBack }: { email: string; onBack: () => void }) {
  const navigate = useNavigate();
  const { from } = useSignInState();
  const texts = signInTexts();
  const [typed, setTyped] = useState(EMPTY);
  const [wrong, setWrong] = useState<FieldError<keyof NewPassword> | null>(null);
  const [isConfirmed, setConfirmed] = useState(false);
  const otp = useRef<InputRef>(null);

  const reset = useMutation({
    mutationFn: () => resetPassword(email, typed),
    onMutate: () => notify({ type: 'loading', message: texts.resetting, duration: 0, key: SIGN_IN_TOAST }),
    onSuccess: () => {
      dismissNotification(SIGN_IN_TOAST);
      notify({
        type: 'success',
        message: texts.reset,
        key: SIGN_IN_TOAST,
      });
    },
    onError: (error) => {
      dismissNotification(SIGN_IN_TOAST);
      notify({ type: 'error', message: failureText(failures().passwordReset, error), key: SIGN_IN_TOAST });
      setWrong(rejectedField(error));
    },
  });
  const resend = useCodeRequest(resetCodeRequest(email));
  const isPending = reset.isPending || resend.isPending;
  const form = useKeptFocus(isPending, wrong);

  const isMatch = typed.newPassword === typed.confirmPassword;
  const isComplete = typed.otp.length === CODE_LENGTH && typed.newPassword !== '' && isMatch;
  // No error while the confirmation is still being typed and matches so far.
  const isStillTyping = !isConfirmed && typed.newPassword.startsWith(typed.confirmPassword);
  const mismatch = typed.confirmPassword && !isMatch && !isStillTyping ? texts.noMatch : undefined;

  function change(given: Partial<NewPassword>) {
    setWrong(null);
    setTyped((before) => ({ ...before, ...given }));
  }

  function submit() {
    const invalid = validationError(typed);
    setWrong(invalid);
    // Navigates only if this form is still mounted when the response arrives.
    if (!invalid) reset.mutate(undefined, { onSuccess: goToLogin });
  }

  function goToLogin() {
    // The reset ended every session of the user, including one in this browser.
    if (session.state.status === 'signed-in') session.clear();
    void navigate('/login', { state: { from, email } });
  }

  return (
    <form
      ref={form}
      className={classes.form}
      noValidate
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        submit();
      }}
    >
      {/* Tells password managers which account the new password belongs to. */}
      <input hidden readOnly name="email" autoComplete="username" value={email} />
      <CodeField
        ref={otp}
        value={typed.otp}
        error={errorAt(wrong, 'otp')}
        disabled={isPending}
        onChange={(digits) => change({ otp: digits })}
      />
      <PasswordField
        label={texts.newPassword}
        name="new-password"
        autoComplete="new-password"
        hint={texts.newPasswordHint}
        value={typed.newPassword}
        error={errorAt(wrong, 'newPassword')}
        disabled={isPending}
        onChange={(password) => change({ newPassword: password })}
      />
      <PasswordField
        label={texts.confirmPassword}
        name="confirm-password"
        autoComplete="new-password"
        value={typed.confirmPassword}
        error={errorAt(wrong, 'confirmPassword') ?? mismatch}
        disabled={isPending}
        onBlur={() => setConfirmed(true)}
        onChange={(password) => change({ confirmPassword: password })}
      />
      <Button type="primary" size="large" block htmlType="submit" disabled={isPending || !isComplete}>
        {reset.isPending ? texts.resettingNow : texts.resetPassword}
      </Button>
      <CodeActions
        back={texts.backToEmail}
        backMessage={texts.backAtEmail}
        isDisabled={isPending}
        isSending={resend.isPending}
        onBack={onBack}
        onResend={() => {
          change({ otp: '' });
          otp.current?.focus();
          resend.mutate();
        }}
      />
    </form>
  );
}
