import { Field, Input, type InputRef } from 'mfe-kit/ui';
import type { Ref } from 'react';
import { signInTexts } from '../sign-in-texts';

interface EmailFieldProps {
  ref: Ref<InputRef>;
  autoFocus: boolean;
  value: string;
  error?: string | undefined;
  disabled: boolean;
  onChange: (email: string) => void;
}

export function EmailField({ ref, autoFocus, value, error, disabled, onChange }: EmailFieldProps) {
  return (
    <Field label={signInTexts().email} error={error}>
      {(control) => (
        <Input
          {...control}
          ref={ref}
          autoFocus={autoFocus}
          status={error ? 'error' : ''}
          size="large"
          type="email"
          name="email"
          autoComplete="username"
          required
          disabled={disabled}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
