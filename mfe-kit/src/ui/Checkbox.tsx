import type { ComponentProps } from 'react';
import classes from './Checkbox.module.css';

/** The props of a `Checkbox`: those of the element. */
export type CheckboxProps = Omit<ComponentProps<'input'>, 'type' | 'size'>;

/** A checkbox; `children` are its label. */
export function Checkbox({ className, children, ...input }: CheckboxProps) {
  return (
    <label className={[classes.checkbox, className].filter(Boolean).join(' ')}>
      <input {...input} type="checkbox" />
      {children === undefined ? null : <span>{children}</span>}
    </label>
  );
}
