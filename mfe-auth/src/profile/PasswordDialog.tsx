import { useMutation } from '@tanstack/react-query';
import { api, notify, queryClient } from 'mfe-kit';
import type { InputRef } from 'mfe-kit/ui';
import { useRef, useState } from 'react';
import { errorAt } from '../fields/field-error';
import { PasswordField } from '../fields/PasswordField';
import { profileQuery, refusedPassword } from './profile';
import { profileTexts } from './profile-texts';
import { ProfileDialog } from './ProfileDialog';
import { WithPasswordForm } from './WithPasswordForm';

/** Changes the password; asks for the old one. All other sessions of the person end. */
export function PasswordDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <ProfileDialog isOpen={isOpen} title={profileTexts().changePassword} onClose={onClose}>
      <PasswordForm onClose={onClose} />
    </ProfileDialog>
  );
}

const EMPTY = { current: '', next: '', again: '' };

function PasswordForm({ onClose }: { onClose: () => void }) {
  const texts = profileTexts();
  const [typed, setTyped] = useState(EMPTY);
  const [isChecked, setChecked] = useState(false);
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
    },
  });

  const refused = refusedPassword(change.error, texts);

  function submit() {
    setChecked(true);
    // Not above: it is not called once the dialog is closed, so it closes no other one.
    if (isMatch) change.mutate(undefined, { onSuccess: onClose });
    else again.current?.focus();
  }

  const field = (key: keyof typeof EMPTY) => ({
    value: typed[key],
    disabled: change.isPending,
    onChange: (password: string) => {
      // The server's answer about a field is about what was sent.
      if (refused) change.reset();
      setTyped((before) => ({ ...before, [key]: password }));
    },
  });
  return (
    <WithPasswordForm
      change={change}
      isFieldRefused={refused !== null}
      isFilled={Boolean(typed.current && typed.next && typed.again)}
      failure={texts.passwordFailed}
      action={texts.changePassword}
      onSubmit={submit}
      onClose={onClose}
    >
      <PasswordField
        label={texts.currentPassword}
        name="current-password"
        autoComplete="current-password"
        error={errorAt(refused, 'current')}
        {...field('current')}
      />
      <PasswordField
        label={texts.newPassword}
        name="new-password"
        autoComplete="new-password"
        hint={texts.newPasswordHint}
        error={errorAt(refused, 'next')}
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
    </WithPasswordForm>
  );
}
