import { useMutation } from '@tanstack/react-query';
import { api, dataOf, failureText, notify, queryClient } from 'mfe-kit';
import { Button, type InputRef, Note } from 'mfe-kit/ui';
import { Modal } from 'mfe-kit/ui-data';
import { type SubmitEvent, useRef, useState } from 'react';
import { PasswordField } from '../fields/PasswordField';
import { failureOf, isPasswordWrong, profileQuery } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

interface SignInCodeDialogProps {
  isOpen: boolean;
  /** Whether a code is required now. */
  isRequired: boolean;
  onClose: () => void;
}

/** Turns the code at sign-in on or off; asks for the password. */
export function SignInCodeDialog({ isOpen, isRequired, onClose }: SignInCodeDialogProps) {
  return (
    <Modal
      open={isOpen}
      onCancel={onClose}
      closable={false}
      width={448}
      centered
      destroyOnHidden
      title={isRequired ? profileTexts().disableTitle : profileTexts().enableTitle}
      footer={null}
    >
      <CodeForm isRequired={isRequired} onClose={onClose} />
    </Modal>
  );
}

function CodeForm({ isRequired, onClose }: { isRequired: boolean; onClose: () => void }) {
  const texts = profileTexts();
  const [password, setPassword] = useState('');
  const field = useRef<InputRef>(null);

  const change = useMutation({
    mutationFn: () =>
      dataOf(api.PUT('/api/v1/profile/sign-in-code', { body: { required: !isRequired, password } })),
    onSuccess: (kept) => {
      queryClient.setQueryData(profileQuery().queryKey, kept);
      notify({ type: 'success', message: isRequired ? texts.codeTurnedOff : texts.codeTurnedOn });
      onClose();
    },
    onError: (error) => {
      if (isPasswordWrong(error)) field.current?.focus();
    },
  });

  const isWrong = isPasswordWrong(change.error);
  return (
    <form
      className={classes.dialog}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <p>{isRequired ? texts.disableText : texts.enableText}</p>
      <PasswordField
        ref={field}
        label={texts.password}
        name="password"
        autoComplete="current-password"
        value={password}
        error={isWrong ? texts.wrongPassword : undefined}
        disabled={change.isPending}
        onChange={setPassword}
      />
      {change.isError && !isWrong ? (
        <Note tone="bad" title={texts.notSaved}>
          <p>{failureText(failureOf(texts.codeFailed, texts), change.error)}</p>
        </Note>
      ) : null}
      <div className={classes.actions}>
        <Button disabled={change.isPending} onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button type="primary" htmlType="submit" disabled={change.isPending || !password}>
          {isRequired ? texts.disable : texts.enable}
        </Button>
      </div>
    </form>
  );
}
