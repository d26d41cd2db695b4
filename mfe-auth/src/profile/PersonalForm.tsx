import { useMutation } from '@tanstack/react-query';
import { api, dataOf, failureText, notify, queryClient, type Schema, session } from 'mfe-kit';
import { Button, Field, Input, type InputRef, Note } from 'mfe-kit/ui';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { failureOf, profileQuery } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

interface PersonalFormProps {
  profile: Schema<'Profile'>;
  isEditing: boolean;
  onDone: () => void;
}

/** Name and phone can be changed; the e-mail address identifies the account, and the role is given. */
export function PersonalForm({ profile, isEditing, onDone }: PersonalFormProps) {
  const texts = profileTexts();
  const { first_name, last_name, phone_number } = profile;
  const [typed, setTyped] = useState({ first_name, last_name, phone_number });
  const first = useRef<InputRef>(null);
  const shown = isEditing ? typed : { first_name, last_name, phone_number };

  useEffect(() => {
    if (isEditing) first.current?.focus();
  }, [isEditing]);

  const save = useMutation({
    mutationFn: () => dataOf(api.PUT('/api/v1/profile', { body: typed })),
    onSuccess: (kept) => {
      queryClient.setQueryData(profileQuery().queryKey, kept);
      session.learn({ name: kept.name });
      notify({ type: 'success', message: texts.saved });
      onDone();
    },
  });

  const field = (key: keyof typeof typed, label: string, autoComplete: string, type = 'text') => (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          {...(key === 'first_name' ? { ref: first } : {})}
          name={key}
          type={type}
          autoComplete={autoComplete}
          size="large"
          required
          disabled={!isEditing || save.isPending}
          value={shown[key]}
          onChange={({ target }) => setTyped((before) => ({ ...before, [key]: target.value }))}
        />
      )}
    </Field>
  );

  return (
    <form
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <div className={classes.fields}>
        {field('first_name', texts.firstName, 'given-name')}
        {field('last_name', texts.lastName, 'family-name')}
        {field('phone_number', texts.phone, 'tel', 'tel')}
        <Field label={texts.email} {...(isEditing ? { hint: texts.emailHint } : {})}>
          {(control) => <Input {...control} size="large" type="email" disabled value={profile.email} />}
        </Field>
        <div className={classes.role}>
          <span>{texts.role}</span>
          <output>{texts.roles[profile.role]}</output>
        </div>
      </div>
      {save.isError ? (
        <Note tone="bad" title={texts.notSaved}>
          <p>{failureText(failureOf(texts.saveFailed, texts), save.error)}</p>
        </Note>
      ) : null}
      {isEditing ? (
        <div className={classes.actions}>
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
