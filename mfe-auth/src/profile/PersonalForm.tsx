import { useMutation } from '@tanstack/react-query';
import { api, dataOf, localPhone, notify, queryClient, type Schema, sentPhone, session } from 'mfe-kit';
import { Button, Field, Input } from 'mfe-kit/ui';
import { type SubmitEvent, useState } from 'react';
import { errorAt } from '../fields/field-error';
import { PasswordField } from '../fields/PasswordField';
import { useKeptFocus } from '../signed-out/useKeptFocus';
import { NotSaved } from './NotSaved';
import { profileQuery, refusedField } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

export type Personal = Pick<Schema<'Profile'>, 'first_name' | 'last_name' | 'phone_number'>;

export function personalOf({ first_name, last_name, phone_number }: Schema<'Profile'>): Personal {
  return { first_name, last_name, phone_number };
}

interface PersonalFormProps {
  profile: Schema<'Profile'>;
  /** What is typed, where the form is edited. */
  typed: Personal | null;
  onType: (changes: Partial<Personal>) => void;
  onDone: () => void;
}

/**
 * Name and phone can be changed, the phone only with the current password, because reset codes are sent to it. The
 * e-mail address identifies the account, and the role is given.
 */
export function PersonalForm({ profile, typed, onType, onDone }: PersonalFormProps) {
  const texts = profileTexts();
  const isEditing = typed !== null;
  const shown = typed ?? personalOf(profile);
  const [password, setPassword] = useState('');
  // If the number was changed elsewhere, the one shown here is a change that only the server knows of.
  const [isPasswordMissing, setPasswordMissing] = useState(false);
  const isPhoneChanged = localPhone(shown.phone_number) !== localPhone(profile.phone_number);
  const needsPassword = isPasswordMissing || isPhoneChanged;

  const save = useMutation({
    mutationFn: () => {
      const proof = needsPassword ? { current_password: password } : {};
      return dataOf(
        api.PUT('/api/v1/profile', {
          body: { ...shown, phone_number: sentPhone(shown.phone_number), ...proof },
        }),
      );
    },
    onSuccess: (kept) => {
      queryClient.setQueryData(profileQuery().queryKey, kept);
      session.learn({ name: kept.name });
      notify({ type: 'success', message: texts.saved });
      onDone();
    },
    onError: (error) => {
      const isPassword = refusedField(error, texts)?.field === 'current_password';
      if (isPassword && !needsPassword) setPasswordMissing(true);
    },
  });
  const refused = refusedField(save.error, texts);
  const form = useKeptFocus(save.isPending, refused && save.error);

  /** The server's answer about a field is about what was sent. */
  function forgetRefusal() {
    if (refused) save.reset();
  }

  const field = (key: keyof Personal, label: string, autoComplete: string, type = 'text') => (
    <Field label={label} error={errorAt(refused, key)}>
      {(control) => (
        <Input
          {...control}
          autoFocus={isEditing && key === 'first_name'}
          name={key}
          status={errorAt(refused, key) ? 'error' : ''}
          type={type}
          autoComplete={autoComplete}
          size="large"
          required
          disabled={!isEditing || save.isPending}
          value={shown[key]}
          onChange={({ target }) => {
            forgetRefusal();
            onType({ [key]: target.value });
          }}
        />
      )}
    </Field>
  );

  return (
    <form
      ref={form}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className={classes.fields}>
        {field('first_name', texts.firstName, 'given-name')}
        {field('last_name', texts.lastName, 'family-name')}
        {field('phone_number', texts.phone, 'tel', 'tel')}
        {needsPassword ? (
          <>
            {/* Tells password managers whose password it is: not that of the phone number before it. */}
            <input hidden readOnly name="email" autoComplete="username" value={profile.email} />
            <PasswordField
              label={texts.currentPassword}
              name="current-password"
              autoComplete="current-password"
              hint={texts.phoneNeedsPassword}
              value={password}
              error={errorAt(refused, 'current_password')}
              disabled={save.isPending}
              onChange={(given) => {
                forgetRefusal();
                setPassword(given);
              }}
            />
          </>
        ) : null}
        <Field label={texts.email} {...(isEditing ? { hint: texts.emailHint } : {})}>
          {(control) => <Input {...control} size="large" type="email" disabled value={profile.email} />}
        </Field>
        <div className={classes.role}>
          <span>{texts.role}</span>
          <output>{texts.roles[profile.role]}</output>
        </div>
      </div>
      {save.isError && !refused ? <NotSaved sentence={texts.saveFailed} error={save.error} /> : null}
      {isEditing ? (
        <div className="actions">
          <Button size="large" disabled={save.isPending} onClick={onDone}>
            {texts.cancel}
          </Button>
          <Button size="large" type="primary" htmlType="submit" disabled={save.isPending}>
            {texts.save}
          </Button>
        </div>
      ) : null}
    </form>
  );
}
