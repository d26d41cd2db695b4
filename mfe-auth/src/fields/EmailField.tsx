import { Field, Input } from 'mfe-kit/ui';
import { signInTexts } from '../sign-in-texts';

interface EmailFieldProps {
  autoFocus: boolean;
  value: string;
  error?: string | undefined;
  disabled: boolean;
  onChange: (email: string) => void;
}

export function EmailField({ autoFocus, value, error, disabled, onChange }: EmailFieldProps) {
  return (
    <Field label={signInTexts().email} error={error}>
      {(control) => (
        <Input
          {...control}
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
