import { useMutation } from '@tanstack/react-query';
import { api, failureText, notify, queryClient } from 'mfe-kit';
import { Button, type InputRef, Note } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { type SubmitEvent, useRef, useState } from 'react';
import { PasswordField } from '../fields/PasswordField';
import { failureOf, isPasswordWrong, profileQuery } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

/** Changes the password; asks for the old one. All other sessions of the person end. */
export function PasswordDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal
      open={isOpen}
      onCancel={onClose}
      closable={false}
      width={448}
      centered
      destroyOnHidden
      title={profileTexts().changePassword}
      footer={null}
    >
      <PasswordForm onClose={onClose} />
    </Modal>
  );
}

const EMPTY = { current: '', next: '', again: '' };

function PasswordForm({ onClose }: { onClose: () => void }) {
  const texts = profileTexts();
  const [typed, setTyped] = useState(EMPTY);
  const [isChecked, setChecked] = useState(false);
  const current = useRef<InputRef>(null);
  const again = useRef<InputRef>(null);
  const isMatch = typed.next === typed.again;

  const change = useMutation({
    mutationFn: () =>
      api.PUT('/api/v1/profile/password', {
        body: { current_password: typed.current, new_password: typed.next },
      }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: profileQuery().queryKey });
      notify({ type: 'success', message: texts.passwordChanged });
      onClose();
    },
    onError: (error) => {
      if (isPasswordWrong(error)) current.current?.focus();
    },
  });

  function submit(event: SubmitEvent) {
    event.preventDefault();
    setChecked(true);
    if (isMatch) change.mutate();
    else again.current?.focus();
  }

  const field = (key: keyof typeof EMPTY) => ({
    value: typed[key],
    disabled: change.isPending,
    onChange: (password: string) => setTyped((before) => ({ ...before, [key]: password })),
  });
  const isWrong = isPasswordWrong(change.error);
  return (
    <form className={classes.dialog} onSubmit={submit}>
      <PasswordField
        ref={current}
        label={texts.currentPassword}
        name="current-password"
        autoComplete="current-password"
        error={isWrong ? texts.wrongPassword : undefined}
        {...field('current')}
      />
      <PasswordField
        label={texts.newPassword}
        name="new-password"
        autoComplete="new-password"
        hint={texts.newPasswordHint}
        {...field('next')}
      />
      <PasswordField
        ref={again}
        label={texts.confirmPassword}
        name="confirm-password"
        autoComplete="new-password"
        error={isChecked && !isMatch ? texts.noMatch : undefined}
        {...field('again')}
      />
      {change.isError && !isWrong ? (
        <Note tone="bad" title={texts.notSaved}>
          <p>{failureText(failureOf(texts.passwordFailed, texts), change.error)}</p>
        </Note>
      ) : null}
      <div className={classes.actions}>
        <Button disabled={change.isPending} onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button
          type="primary"
          htmlType="submit"
          disabled={change.isPending || !typed.current || !typed.next || !typed.again}
        >
          {texts.changePassword}
        </Button>
      </div>
    </form>
  );
}
