import { type ReactNode, useId } from 'react';
import classes from './Field.module.css';

/** The attributes that connect a field's control to its label and texts. */
export interface ControlProps {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: true;
}

interface FieldProps {
  label: string;
  /** Drawn below the control. */
  hint?: string | undefined;
  /** The error in the value; replaces the hint and marks the control as invalid. */
  error?: string | undefined;
  /** Announces the hint or error when it changes during typing. */
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
          className={`detail ${error ? classes.error : classes.text}`}
          aria-live={isLive ? 'polite' : undefined}
        >
          {text}
        </p>
      ) : null}
    </div>
  );
}
