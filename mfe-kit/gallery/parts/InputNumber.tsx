/** A field for a number, of antd. */
import { Field } from 'mfe-kit/ui';
import { InputNumber } from 'mfe-kit/ui-data';

export function InAField() {
  return (
    <Field label="Amount" hint="At most 70,000.">
      {(control) => <InputNumber {...control} min={1} max={70_000} defaultValue={25_000} />}
    </Field>
  );
}

export function Disabled() {
  return <InputNumber aria-label="Locked amount" disabled defaultValue={25_000} />;
}
