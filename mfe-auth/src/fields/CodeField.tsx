import { Field, Input, type InputRef } from 'mfe-kit/ui';
import type { Ref } from 'react';
import { signInTexts } from '../sign-in-texts';
import classes from './CodeField.module.css';

export const CODE_LENGTH = 6;

interface CodeFieldProps {
  ref: Ref<InputRef>;
  value: string;
  error?: string | undefined;
  disabled: boolean;
  onChange: (code: string) => void;
}

/**
 * The field for a one-time code: a single input, so that a phone or a browser can fill it in. It
 * keeps the first six digits of what is typed or pasted (REQ-114, REQ-146).
 */
export function CodeField({ ref, value, error, disabled, onChange }: CodeFieldProps) {
  return (
    <Field label={signInTexts().code} error={error}>
      {(control) => (
        <Input
          {...control}
          ref={ref}
          autoFocus
          status={error ? 'error' : ''}
          className={classes.code}
          name="otp"
          inputMode="numeric"
          autoComplete="one-time-code"
          spellCheck={false}
          required
          disabled={disabled}
          value={value}
          onChange={({ target }) => onChange(target.value.replaceAll(/\D/g, '').slice(0, CODE_LENGTH))}
        />
      )}
    </Field>
  );
}
