import { Field, Input, type InputRef } from 'mfe-kit/ui';
import { type KeyboardEvent, type Ref, useState } from 'react';
import { signInTexts } from '../sign-in-texts';
import classes from './PasswordField.module.css';

interface PasswordFieldProps {
  ref?: Ref<InputRef>;
  autoFocus?: boolean;
  label: string;
  name: string;
  /** Tells password managers whether to fill in a password or to generate one. */
  autoComplete: 'current-password' | 'new-password';
  value: string;
  hint?: string | undefined;
  error?: string | undefined;
  disabled: boolean;
  onChange: (password: string) => void;
  onBlur?: () => void;
}

/** The field for a password, which can be shown, with a warning while Caps Lock is on. */
export function PasswordField({
  ref,
  label,
  hint,
  error,
  disabled,
  onChange,
  onBlur,
  ...input
}: PasswordFieldProps) {
  const texts = signInTexts();
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);
  const checkCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState('CapsLock'));

  return (
    <Field label={label} hint={hasCapsLock ? texts.capsLock : hint} error={error} isLive>
      {(control) => (
        <Input
          {...control}
          {...input}
          ref={ref}
          status={error ? 'error' : ''}
          size="large"
          // Hidden again while it is sent, so that the browser does not save it as ordinary text.
          type={isShown && !disabled ? 'text' : 'password'}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          required
          disabled={disabled}
          onChange={({ target }) => onChange(target.value)}
          onKeyDown={checkCapsLock}
          onKeyUp={checkCapsLock}
          onBlur={() => {
            setCapsLock(false);
            onBlur?.();
          }}
          suffix={
            <button
              type="button"
              className={classes.show}
              aria-describedby={`${control.id}-label`}
              disabled={disabled}
              onClick={() => setShown((before) => !before)}
            >
              {isShown ? texts.hide : texts.show}
            </button>
          }
        />
      )}
    </Field>
  );
}
