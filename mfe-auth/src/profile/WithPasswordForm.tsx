import { useSession } from 'mfe-kit';
import { Button } from 'mfe-kit/ui';
import type { ReactNode, SubmitEvent } from 'react';
import { useKeptFocus } from '../signed-out/useKeptFocus';
import { NotSaved } from './NotSaved';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

interface WithPasswordFormProps {
  /** The change that the form asks for. */
  change: { error: Error | null; isPending: boolean };
  /** `true` if the change was refused for what is in a field. The field says so and gets the focus. */
  isFieldRefused: boolean;
  /** `true` if everything that the change needs is typed. */
  isFilled: boolean;
  /** The text to show if the change failed and the server gave no reason. */
  failure: string;
  action: string;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A form for a change that requires the password, with the refusal and the buttons below its fields. */
export function WithPasswordForm({
  change,
  isFieldRefused,
  isFilled,
  failure,
  action,
  onSubmit,
  onClose,
  children,
}: WithPasswordFormProps) {
  const texts = profileTexts();
  const { user } = useSession();
  const form = useKeptFocus(change.isPending, isFieldRefused && change.error);

  return (
    <form
      ref={form}
      className={classes.dialog}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {/* Tells password managers whose password it is. */}
      <input hidden readOnly name="email" autoComplete="username" value={user?.email} />
      {children}
      {change.error && !isFieldRefused ? <NotSaved sentence={failure} error={change.error} /> : null}
      <div className="actions">
        <Button disabled={change.isPending} onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button type="primary" htmlType="submit" disabled={change.isPending || !isFilled}>
          {action}
        </Button>
      </div>
    </form>
  );
}
