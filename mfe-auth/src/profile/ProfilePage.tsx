import {
  displayName,
  formatDate,
  formatMonthAndYear,
  isLive,
  type SessionUser,
  useSession,
  useToday,
} from 'mfe-kit';
import { Button, Card, Field, Input, type InputRef, PageHeader } from 'mfe-kit/ui';
import { lazy, type SubmitEvent, useLayoutEffect, useRef, useState } from 'react';
import { Picture } from './Picture';
import classes from './ProfilePage.module.css';
import { SecurityRow } from './SecurityRow';

const LiveProfile = lazy(() => import('./LiveProfile'));

/** The phone number in the form until the user types one. */
const PLACEHOLDER_PHONE = '+254 700 000 000';

interface Profile {
  name: string;
  email: string;
  phone: string;
  role: string;
}

/** The user's own page; where the screens are specified, or the provider keeps no profile, nothing is saved. */
export default function ProfilePage() {
  return isLive() ? <LiveProfile specified={<SpecifiedProfile />} /> : <SpecifiedProfile />;
}

/** Changes are kept until the page is left (REQ-341). */
function SpecifiedProfile() {
  const { user } = useSession();
  const today = useToday();
  const [profile, setProfile] = useState(() => profileOf(user));
  const [draft, setDraft] = useState<Profile | null>(null);
  const name = useRef<InputRef>(null);
  const edit = useRef<HTMLButtonElement>(null);
  const isEditing = draft !== null;
  const shown = draft ?? profile;

  // Focus follows the change of mode, but does not move when the page opens.
  const wasEditing = useRef(false);
  useLayoutEffect(() => {
    if (isEditing) name.current?.focus();
    else if (wasEditing.current) edit.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);

  const field = (key: 'name' | 'email' | 'phone', label: string, autoComplete: string) => (
    <Field label={label}>
      {(control) => (
        <Input
          {...control}
          {...(key === 'name' ? { ref: name } : {})}
          name={key}
          autoComplete={autoComplete}
          size="large"
          disabled={!isEditing}
          value={shown[key]}
          onChange={({ target }) => setDraft({ ...shown, [key]: target.value })}
        />
      )}
    </Field>
  );

  return (
    <>
      <PageHeader
        title="My Profile"
        action={
          <Button ref={edit} type="primary" disabled={isEditing} onClick={() => setDraft(profile)}>
            Edit Profile
          </Button>
        }
      />
      <div className={classes.columns}>
        <Card>
          <div className={classes.who}>
            <Picture user={user} />
            <strong>{displayName(user)}</strong>
            <p>{user?.email}</p>
            <p>{`Account active since ${formatMonthAndYear(today)}`}</p>
          </div>
        </Card>
        <div className={classes.column}>
          <Card title="Personal Information">
            <form
              noValidate
              onSubmit={(event: SubmitEvent) => {
                event.preventDefault();
                setProfile(shown);
                setDraft(null);
              }}
            >
              <div className={classes.fields}>
                {field('name', 'Full Name', 'name')}
                {field('email', 'Email Address', 'email')}
                {field('phone', 'Phone Number', 'tel')}
                <div className={classes.role}>
                  <span>Role</span>
                  <output>{shown.role}</output>
                </div>
              </div>
              {isEditing ? (
                <div className="actions">
                  <Button size="large" onClick={() => setDraft(null)}>
                    Cancel
                  </Button>
                  <Button size="large" type="primary" htmlType="submit">
                    Save Changes
                  </Button>
                </div>
              ) : null}
            </form>
          </Card>
          <Card title="Security Settings" flush>
            <ul className={classes.rows} role="list">
              <SecurityRow
                title="Password"
                text={`Last changed ${formatDate(today)}`}
                action="Change Password"
              />
              <SecurityRow
                title="Two-Factor Authentication"
                text="A second step when you sign in"
                action="Enable"
              />
              <SecurityRow title="Login Sessions" text="Where you are signed in" action="Manage" />
            </ul>
          </Card>
        </div>
      </div>
    </>
  );
}

function profileOf(user: SessionUser | null): Profile {
  return {
    name: user?.name || user?.username || '',
    email: user?.email ?? '',
    phone: PLACEHOLDER_PHONE,
    role: user?.role ?? 'user',
  };
}
