import { Field, Input } from 'mfe-kit/ui';
import { groupedAmount } from './grouped-amount';

interface NumberFieldProps {
  label: string;
  hint: string;
  error: string | undefined;
  /** The currency, if it is an amount. */
  prefix?: string | undefined;
  value: string;
  onChange: (value: string) => void;
}

/** A field for a whole number, which keeps what was typed, also what is no number. */
export function NumberField({ label, hint, error, prefix, value, onChange }: NumberFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} isLive>
      {(control) => (
        <Input
          {...control}
          prefix={prefix}
          status={error ? 'error' : ''}
          inputMode="numeric"
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
          onBlur={() => {
            if (prefix && groupedAmount(value) !== value) onChange(groupedAmount(value));
          }}
        />
      )}
    </Field>
  );
}
