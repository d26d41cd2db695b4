import { useMutation } from '@tanstack/react-query';
import { api, dataOf, notify, queryClient } from 'mfe-kit';
import { useState } from 'react';
import { PasswordField } from '../fields/PasswordField';
import { isPasswordWrong, profileQuery } from './profile';
import { profileTexts } from './profile-texts';
import { ProfileDialog } from './ProfileDialog';
import { WithPasswordForm } from './WithPasswordForm';

interface SignInCodeDialogProps {
  isOpen: boolean;
  /** `true` if a code is required now; the dialog then turns it off. */
  isRequired: boolean;
  onClose: () => void;
}

/** Turns the code at sign-in on or off; asks for the password. */
export function SignInCodeDialog({ isOpen, isRequired, onClose }: SignInCodeDialogProps) {
  return (
    <ProfileDialog
      isOpen={isOpen}
      title={isRequired ? profileTexts().disableTitle : profileTexts().enableTitle}
      onClose={onClose}
    >
      <CodeForm isRequired={isRequired} onClose={onClose} />
    </ProfileDialog>
  );
}

function CodeForm({ isRequired, onClose }: { isRequired: boolean; onClose: () => void }) {
  const texts = profileTexts();
  const [password, setPassword] = useState('');

  const change = useMutation({
    mutationFn: () =>
      dataOf(api.PUT('/api/v1/profile/sign-in-code', { body: { required: !isRequired, password } })),
    onSuccess: (kept) => {
      queryClient.setQueryData(profileQuery().queryKey, kept);
      notify({ type: 'success', message: isRequired ? texts.codeTurnedOff : texts.codeTurnedOn });
    },
  });

  const isRefused = isPasswordWrong(change.error);
  return (
    <WithPasswordForm
      change={change}
      isFieldRefused={isRefused}
      isFilled={password !== ''}
      failure={texts.codeFailed}
      action={isRequired ? texts.disable : texts.enable}
      // Not above: it is not called once the dialog is closed, so it closes no other one.
      onSubmit={() => change.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{isRequired ? texts.disableText : texts.enableText}</p>
      <PasswordField
        label={texts.password}
        name="password"
        autoComplete="current-password"
        value={password}
        error={isRefused ? texts.wrongPassword : undefined}
        disabled={change.isPending}
        onChange={(given) => {
          // The server's answer about a field is about what was sent.
          if (isRefused) change.reset();
          setPassword(given);
        }}
      />
    </WithPasswordForm>
  );
}
