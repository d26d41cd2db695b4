import { useMutation } from '@tanstack/react-query';
import { dismissNotification, failureText, notify, session } from 'mfe-kit';
import { Button, Icon, type InputRef } from 'mfe-kit/ui';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { CODE_LENGTH, CodeField } from '../fields/CodeField';
import { errorAt, type FieldError } from '../fields/field-error';
import { PasswordField } from '../fields/PasswordField';
import classes from '../gate/form.module.css';
import { useGateState } from '../gate/gate-state';
import { focusWhole, useKeptFocus } from '../gate/useKeptFocus';
import { fieldToMend, type NewPassword, problemWith, resetPassword } from './reset';
import { GATE_TOAST } from '../gate/toast';
import { useResetCode } from './useResetCode';

const NOTHING: NewPassword = { otp: '', newPassword: '', confirmPassword: '' };

/** The code and the new password. */
export function ResetStep({ email, onBack }: { email: string; onBack: () => void }) {
  const navigate = useNavigate();
  const { from } = useGateState();
  const [typed, setTyped] = useState(NOTHING);
  const [wrong, setWrong] = useState<FieldError<keyof NewPassword> | null>(null);
  const [isConfirmed, setConfirmed] = useState(false);
  const otp = useRef<InputRef>(null);
  const newPassword = useRef<InputRef>(null);
  const confirmPassword = useRef<InputRef>(null);
  const fields = { otp, newPassword, confirmPassword };

  const reset = useMutation({
    mutationFn: () => resetPassword(email, typed),
    onMutate: () =>
      notify({ type: 'loading', message: 'Resetting password...', duration: 0, key: GATE_TOAST }),
    onSuccess: () => {
      dismissNotification(GATE_TOAST);
      notify({
        type: 'success',
        message: 'Password reset successful! You can now sign in with your new password.',
        key: GATE_TOAST,
      });
    },
    onError: (error) => {
      dismissNotification(GATE_TOAST);
      notify({ type: 'error', message: failureText('passwordReset', error), key: GATE_TOAST });
      const mend = fieldToMend(error);
      setWrong(mend);
      if (mend) sendTo(() => focusWhole(fields[mend.field].current));
    },
  });
  const resend = useResetCode({ email });
  const isPending = reset.isPending || resend.isPending;
  const { form, sendTo } = useKeptFocus(isPending);

  useEffect(() => otp.current?.focus(), []);

  const isMatch = typed.newPassword === typed.confirmPassword;
  const isComplete = typed.otp.length === CODE_LENGTH && typed.newPassword !== '' && isMatch;
  // Who has typed the first letters of the same again is not told off for the missing ones.
  const isStillTyping = !isConfirmed && typed.newPassword.startsWith(typed.confirmPassword);
  const mismatch = typed.confirmPassword && !isMatch && !isStillTyping ? 'Passwords do not match' : undefined;

  function change(given: Partial<NewPassword>) {
    setWrong(null);
    setTyped((before) => ({ ...before, ...given }));
  }

  function submit() {
    const problem = problemWith(typed);
    setWrong(problem);
    if (problem) fields[problem.field].current?.focus();
    // The way to sign-in is for who waited for it here.
    else reset.mutate(undefined, { onSuccess: leaveToLogin });
  }

  function leaveToLogin() {
    // Whoever was signed in here is so no more: the reset has ended every session of the user.
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
      {/* Tells password managers whose new password it is. */}
      <input hidden readOnly name="email" autoComplete="username" value={email} />
      <CodeField
        ref={otp}
        value={typed.otp}
        error={errorAt(wrong, 'otp')}
        disabled={isPending}
        onChange={(digits) => change({ otp: digits })}
      />
      <PasswordField
        ref={newPassword}
        label="New Password"
        name="new-password"
        autoComplete="new-password"
        hint="At least 6 characters."
        value={typed.newPassword}
        error={errorAt(wrong, 'newPassword')}
        disabled={isPending}
        onChange={(password) => change({ newPassword: password })}
      />
      <PasswordField
        ref={confirmPassword}
        label="Confirm New Password"
        name="confirm-password"
        autoComplete="new-password"
        value={typed.confirmPassword}
        error={errorAt(wrong, 'confirmPassword') ?? mismatch}
        disabled={isPending}
        onBlur={() => setConfirmed(true)}
        onChange={(password) => change({ confirmPassword: password })}
      />
      <Button type="primary" size="large" block htmlType="submit" disabled={isPending || !isComplete}>
        {reset.isPending ? 'Resetting Password...' : 'Reset Password'}
      </Button>
      <div className={classes.ways}>
        <Button
          type="link"
          icon={<Icon name="back" />}
          disabled={isPending}
          onClick={() => {
            notify({ type: 'info', message: 'Switched back to email entry', key: GATE_TOAST });
            onBack();
          }}
        >
          Back to Email
        </Button>
        <Button
          type="link"
          disabled={isPending}
          onClick={() => {
            change({ otp: '' });
            sendTo(() => otp.current?.focus());
            resend.mutate();
          }}
        >
          {resend.isPending ? 'Sending...' : 'Resend code'}
        </Button>
      </div>
    </form>
  );
}
