import { Button } from 'mfe-kit/ui';
import { type ReactNode, type SubmitEvent, useLayoutEffect, useRef } from 'react';
import { NotSaved } from './NotSaved';
import { isPasswordWrong } from './profile';
import { profileTexts } from './profile-texts';
import classes from './ProfilePage.module.css';

interface WithPasswordFormProps {
  /** The change that the form asks for. */
  change: { error: Error | null; isPending: boolean };
  /** `true` if everything that the change needs is typed. */
  isFilled: boolean;
  /** The text to show if the change failed and the server gave no reason. */
  failure: string;
  /** The button that makes the change. */
  action: string;
  onSubmit: () => void;
  onClose: () => void;
  /** The fields. A wrong password is reported at the password field, which gets the focus, not here. */
  children: ReactNode;
}

/** A form for a change that requires the password, with the refusal and the buttons below its fields. */
export function WithPasswordForm({
  change,
  isFilled,
  failure,
  action,
  onSubmit,
  onClose,
  children,
}: WithPasswordFormProps) {
  const texts = profileTexts();
  const form = useRef<HTMLFormElement>(null);

  // Once the field can be focused: it is disabled while the server is asked.
  useLayoutEffect(() => {
    if (isPasswordWrong(change.error))
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [change.error]);

  return (
    <form
      ref={form}
      className={classes.dialog}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {change.error && !isPasswordWrong(change.error) ? (
        <NotSaved sentence={failure} error={change.error} />
      ) : null}
      <div className={classes.actions}>
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
