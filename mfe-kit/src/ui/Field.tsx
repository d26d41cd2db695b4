import { type ReactNode, useId } from 'react';
import classes from './Field.module.css';

/** What a field's control has to carry, to be tied to its label and its texts. */
export interface ControlProps {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: string;
  /** Stands under the control, such as what a value means. */
  hint?: string | undefined;
  /** What is wrong with the value; replaces the hint and marks the control. */
  error?: string | undefined;
  /** Says the hint or error aloud when it changes while someone types. */
  isLive?: boolean;
  children: (control: ControlProps) => ReactNode;
}

/** A labelled control of a form. */
export function Field({ label, hint, error, isLive = false, children }: FieldProps) {
  const id = useId();
  const text = error ?? hint;
  return (
    <div className={classes.field}>
      <label id={`${id}-label`} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        ...(text ? { 'aria-describedby': `${id}-text` } : {}),
        ...(error ? { 'aria-invalid': true as const } : {}),
      })}
      {text || isLive ? (
        <p
          id={`${id}-text`}
          className={error ? classes.error : classes.hint}
          aria-live={isLive ? 'polite' : undefined}
        >
          {text}
        </p>
      ) : null}
    </div>
  );
}
