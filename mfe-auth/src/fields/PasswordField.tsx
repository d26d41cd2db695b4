import { Field, Input, type InputRef } from 'mfe-kit/ui';
import { type KeyboardEvent, type Ref, useState } from 'react';
import classes from './PasswordField.module.css';

interface PasswordFieldProps {
  ref?: Ref<InputRef>;
  label: string;
  name: string;
  /** Tells password managers whether to fill the password in or to make one up. */
  autoComplete: 'current-password' | 'new-password';
  value: string;
  hint?: string | undefined;
  error?: string | undefined;
  isLive?: boolean;
  disabled: boolean;
  onChange: (password: string) => void;
  onBlur?: () => void;
}

/** The field of a password, which can be looked at, and which warns of Caps Lock. */
export function PasswordField({
  ref,
  label,
  hint,
  error,
  isLive = true,
  disabled,
  onChange,
  onBlur,
  ...input
}: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);
  const lookForCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState('CapsLock'));

  return (
    <Field label={label} hint={hasCapsLock ? 'Caps Lock is on.' : hint} error={error} isLive={isLive}>
      {(control) => (
        <Input
          {...control}
          {...input}
          ref={ref}
          status={error ? 'error' : ''}
          size="large"
          // Hidden again on the way, so that the browser does not offer it as ordinary text later.
          type={isShown && !disabled ? 'text' : 'password'}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          required
          disabled={disabled}
          onChange={({ target }) => onChange(target.value)}
          onKeyDown={lookForCapsLock}
          onKeyUp={lookForCapsLock}
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
              {isShown ? 'Hide' : 'Show'}
            </button>
          }
        />
      )}
    </Field>
  );
}
