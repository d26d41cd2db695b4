import { useQuery } from '@tanstack/react-query';
import { formatDate, formatMonthAndYear, type Schema, useDraft, useSession } from 'mfe-kit';
import { Button, Card, PageHeader, QueryStates } from 'mfe-kit/ui';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { PasswordDialog } from './PasswordDialog';
import { type Personal, PersonalForm, personalOf } from './PersonalForm';
import { Picture } from './Picture';
import { PreferencesCard } from './PreferencesCard';
import { failureOf, profileQuery } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';
import { SecurityRow } from './SecurityRow';
import { SessionsDialog } from './SessionsDialog';
import { SignInCodeDialog } from './SignInCodeDialog';

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

function Shown({ profile }: { profile: Schema<'Profile'> }) {
  const texts = profileTexts();
  const { user } = useSession();
  const [typed, setTyped] = useDraft<Personal | null>('profile', null);
  const isEditing = typed !== null;
  const [dialog, setDialog] = useState<'password' | 'code' | 'sessions' | null>(null);
  const edit = useRef<HTMLButtonElement>(null);

  // Focus follows the change of mode, but does not move when the page opens.
  const wasEditing = useRef(false);
  useLayoutEffect(() => {
    if (!isEditing && wasEditing.current) edit.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);

  const isCodeRequired = profile.sign_in_code_required;
  return (
    <>
      <PageHeader
        title={texts.title}
        action={
          <Button
            ref={edit}
            type="primary"
            disabled={isEditing}
            onClick={() => setTyped(personalOf(profile))}
          >
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
              typed={typed}
              onType={(changes) => setTyped((before) => before && { ...before, ...changes })}
              onDone={() => setTyped(null)}
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
