import { useMutation, useQuery } from '@tanstack/react-query';
import {
  api,
  dataOf,
  failureText,
  formatDate,
  formatMonthAndYear,
  notify,
  queryClient,
  type Schema,
  session,
  useSession,
} from 'mfe-kit';
import { Button, Card, Field, Input, type InputRef, Note, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type ReactNode, type SubmitEvent, useEffect, useRef, useState } from 'react';
import { PasswordDialog } from './PasswordDialog';
import { Picture } from './Picture';
import { PreferencesCard } from './PreferencesCard';
import { failureOf, profileQuery } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';
import { SecurityRow } from './SecurityRow';
import { SessionsDialog } from './SessionsDialog';
import { SignInCodeDialog } from './SignInCodeDialog';

type Profile = Schema<'Profile'>;

/** The user's own page, which is kept. `specified` is drawn for a provider that keeps no profile. */
export default function LiveProfile({ specified }: { specified: ReactNode }) {
  const query = useQuery(profileQuery());
  const texts = profileTexts();
  return (
    <QueryStates
      query={query}
      failure={failureOf(texts.failed, texts)}
      header={<PageHeader title={texts.title} />}
    >
      {(profile) => (profile ? <Shown profile={profile} /> : specified)}
    </QueryStates>
  );
}

function Shown({ profile }: { profile: Profile }) {
  const texts = profileTexts();
  const { user } = useSession();
  const [isEditing, setEditing] = useState(false);
  const [dialog, setDialog] = useState<'password' | 'code' | 'sessions' | null>(null);
  const edit = useRef<HTMLButtonElement>(null);

  // Focus follows the change of mode, but does not move when the page opens.
  const wasEditing = useRef(false);
  useEffect(() => {
    if (!isEditing && wasEditing.current) edit.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);

  const isCodeRequired = profile.sign_in_code_required;
  return (
    <>
      <PageHeader
        title={texts.title}
        action={
          <Button ref={edit} type="primary" disabled={isEditing} onClick={() => setEditing(true)}>
            {texts.edit}
          </Button>
        }
      />
      <div className={classes.columns}>
        <Card>
          <div className={classes.who}>
            <Picture user={user} />
            <strong>{profile.name}</strong>
            <p>{profile.email}</p>
            <p>{texts.activeSince(formatMonthAndYear(profile.created_at))}</p>
          </div>
        </Card>
        <div className={classes.column}>
          <Card title={texts.personal}>
            <PersonalForm
              key={String(isEditing)}
              profile={profile}
              isEditing={isEditing}
              onDone={() => setEditing(false)}
            />
          </Card>
          <Card title={texts.security} flush>
            <ul className={classes.rows} role="list">
              <SecurityRow
                title={texts.password}
                text={texts.lastChanged(formatDate(profile.password_changed_at))}
                action={texts.changePassword}
                onAct={() => setDialog('password')}
              />
              <SecurityRow
                title={texts.twoFactor}
                text={isCodeRequired ? texts.codeIsOn : texts.codeIsOff}
                action={isCodeRequired ? texts.disable : texts.enable}
                onAct={() => setDialog('code')}
              />
              <SecurityRow
                title={texts.sessions}
                text={texts.sessionsText}
                action={texts.manage}
                onAct={() => setDialog('sessions')}
              />
            </ul>
          </Card>
          <PreferencesCard />
        </div>
      </div>
      <PasswordDialog isOpen={dialog === 'password'} onClose={() => setDialog(null)} />
      <SignInCodeDialog
        isOpen={dialog === 'code'}
        isRequired={isCodeRequired}
        onClose={() => setDialog(null)}
      />
      <SessionsDialog isOpen={dialog === 'sessions'} onClose={() => setDialog(null)} />
    </>
  );
}

interface PersonalFormProps {
  profile: Profile;
  isEditing: boolean;
  onDone: () => void;
}

/** Name and phone can be changed; the e-mail address identifies the account, and the role is given. */
function PersonalForm({ profile, isEditing, onDone }: PersonalFormProps) {
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
