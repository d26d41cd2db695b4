import { displayName, formatDate, formatMonthAndYear, type SessionUser, useSession } from 'mfe-kit';
import { Avatar, Button, Card, Field, Input, type InputRef, PageHeader } from 'mfe-kit/ui';
import { type SubmitEvent, useEffect, useId, useRef, useState } from 'react';
import classes from './ProfilePage.module.css';

/** What the form holds before the user has typed a number. */
const PLACEHOLDER_PHONE = '+254 700 000 000';

interface Profile {
  name: string;
  email: string;
  phone: string;
  role: string;
}

/** The user's own page. What is typed here stays until the page is left, and goes nowhere (REQ-341). */
export default function ProfilePage() {
  const { user } = useSession();
  const [profile, setProfile] = useState(() => profileOf(user));
  const [draft, setDraft] = useState<Profile | null>(null);
  const name = useRef<InputRef>(null);
  const edit = useRef<HTMLButtonElement>(null);
  const isEditing = draft !== null;
  const shown = draft ?? profile;

  // The keyboard goes on where the mode has changed, but not when the page is opened.
  const wasEditing = useRef(false);
  useEffect(() => {
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
            <p>{`Account active since ${formatMonthAndYear(new Date())}`}</p>
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
                <div className={classes.acts}>
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
              <Row title="Password" text={`Last changed ${formatDate(new Date())}`} act="Change Password" />
              <Row title="Two-Factor Authentication" text="A second step when you sign in" act="Enable" />
              <Row title="Login Sessions" text="Where you are signed in" act="Manage" />
            </ul>
          </Card>
        </div>
      </div>
    </>
  );
}

/** The picture that the session's user has, else the initial. */
function Picture({ user }: { user: SessionUser | null }) {
  const [isMissing, setMissing] = useState(false);
  if (!user?.avatar || isMissing) return <Avatar name={displayName(user)} large />;
  return <img className={classes.picture} src={user.avatar} alt="" onError={() => setMissing(true)} />;
}

/** A row whose button has nothing behind it yet. */
function Row({ title, text, act }: { title: string; text: string; act: string }) {
  const id = useId();
  return (
    <li>
      <div>
        <strong id={id}>{title}</strong>
        <p>{text}</p>
      </div>
      <Button aria-describedby={id}>{act}</Button>
    </li>
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
