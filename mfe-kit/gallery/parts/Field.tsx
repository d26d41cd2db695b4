/** A labelled control of a form, with a hint or an error. */
import { Field, Input } from 'mfe-kit/ui';

export function WithAHint() {
  return (
    <Field label="Phone number" hint="Such as 0712 345 678.">
      {(control) => <Input {...control} />}
    </Field>
  );
}

export function WithAnError() {
  return (
    <Field label="Phone number" error="Enter a Kenyan mobile number.">
      {(control) => <Input {...control} status="error" defaultValue="0712" />}
    </Field>
  );
}
